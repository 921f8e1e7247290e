// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SOPP and what else steers a wave: branches, calls, barriers, waits, and the
// hardware registers behind s_getreg and s_setreg.
#include "Elf.h"
#include "Wave.h"

namespace winnow::sim {
namespace {

void jump(Wave &w, const Instruction &in) {
  if (in.target < 0)
    return w.stop(in, "its target is outside the kernel's instructions");
  w.pc = in.target;
}

template <auto Test> void branchIf(Wave &w, const Instruction &in) {
  if (Test(w))
    jump(w, in);
}
template <auto Test> constexpr Operation branchOp(const char *name) {
  return {name, &branchIf<Test>, InstructionClass::Branch};
}

uint64_t addressAfter(const Wave &w, const Instruction &in) {
  return w.group->codeBase + in.address + in.size;
}

void jumpTo(Wave &w, const Instruction &in, uint64_t address) {
  int32_t index = w.group->program->find(address - w.group->codeBase);
  if (index < 0)
    return w.stop(in, "it jumps to " + hex(address) +
                          ", which is no instruction of this code object");
  w.pc = index;
}

void getProgramCounter(Wave &w, const Instruction &in) {
  w.setPair(in.destination.index, addressAfter(w, in));
}
void setProgramCounter(Wave &w, const Instruction &in) {
  jumpTo(w, in, readScalar64(w, in.source[0]));
}
void swapProgramCounter(Wave &w, const Instruction &in) {
  uint64_t target = readScalar64(w, in.source[0]);
  w.setPair(in.destination.index, addressAfter(w, in));
  jumpTo(w, in, target);
}
void call(Wave &w, const Instruction &in) {
  w.setPair(in.destination.index, addressAfter(w, in));
  jumpTo(w, in, addressAfter(w, in) + int64_t(in.immediate) * 4);
}

/// Hardware registers by number (CDNA4 ISA, "S_GETREG_B32").
constexpr unsigned kHwMode = 1, kHwXccId = 20;

bool hardwareRegister(Wave &w, unsigned id, uint32_t &value) {
  if (id == kHwMode)
    value = w.mode;
  else if (id == kHwXccId)
    // Workgroups go round-robin over the 8 dies of an MI355X.
    value = uint32_t(w.group->linearId % 8);
  else
    return false;
  return true;
}

struct RegisterField {
  unsigned id, offset, width;
  explicit RegisterField(int32_t immediate)
      : id(immediate & 63), offset(immediate >> 6 & 31),
        width((immediate >> 11 & 31) + 1) {}
  uint32_t mask() const { return width == 32 ? ~0u : (1u << width) - 1; }
};

void getRegister(Wave &w, const Instruction &in) {
  RegisterField field(in.immediate);
  uint32_t value = 0;
  if (!hardwareRegister(w, field.id, value))
    return w.stop(in, "hardware register " + std::to_string(field.id) +
                          " is not simulated");
  w.sgpr[in.destination.index] = value >> field.offset & field.mask();
}

void setField(Wave &w, const Instruction &in, uint32_t value) {
  RegisterField field(in.immediate);
  if (field.id != kHwMode)
    return w.stop(in, "a write of hardware register " +
                          std::to_string(field.id) + " is not simulated");
  uint32_t mask = field.mask() << field.offset;
  w.setMode((w.mode & ~mask) | (value << field.offset & mask));
  if (w.mode & kModeTraps)
    w.stop(in,
           "it asks for traps on float exceptions, which are not simulated");
}
void setRegister(Wave &w, const Instruction &in) {
  setField(w, in, w.sgpr[in.destination.index]);
}
void setRegisterImmediate(Wave &w, const Instruction &in) {
  setField(w, in, uint32_t(in.immediate2));
}

void nothing(Wave &, const Instruction &) {}
constexpr Operation waitOp(const char *name) {
  return {name, &nothing, InstructionClass::Wait};
}

constexpr ValueType B64 = ValueType::B64, B32 = ValueType::B32,
                    None = ValueType::None;

const Operation table[] = {
    {"s_branch", &jump, InstructionClass::Branch},
    branchOp<[](const Wave &w) { return !w.scc; }>("s_cbranch_scc0"),
    branchOp<[](const Wave &w) { return w.scc; }>("s_cbranch_scc1"),
    branchOp<[](const Wave &w) { return w.vcc() == 0; }>("s_cbranch_vccz"),
    branchOp<[](const Wave &w) { return w.vcc() != 0; }>("s_cbranch_vccnz"),
    branchOp<[](const Wave &w) { return w.exec() == 0; }>("s_cbranch_execz"),
    branchOp<[](const Wave &w) { return w.exec() != 0; }>("s_cbranch_execnz"),
    {"s_getpc_b64", &getProgramCounter, InstructionClass::Salu, B64},
    {"s_setpc_b64",
     &setProgramCounter,
     InstructionClass::Branch,
     None,
     {B64, None, None}},
    {"s_swappc_b64",
     &swapProgramCounter,
     InstructionClass::Branch,
     B64,
     {B64, None, None}},
    {"s_call_b64", &call, InstructionClass::Branch, B64},
    {"s_getreg_b32", &getRegister, InstructionClass::Salu, B32},
    {"s_setreg_b32", &setRegister, InstructionClass::Salu, B32},
    {"s_setreg_imm32_b32", &setRegisterImmediate, InstructionClass::Salu, B32},
    {"s_barrier",
     [](Wave &w, const Instruction &) { w.state = WaveState::AtBarrier; },
     InstructionClass::Wait},
    {"s_endpgm",
     [](Wave &w, const Instruction &) { w.state = WaveState::Ended; },
     InstructionClass::Branch},
    {"s_trap",
     [](Wave &w, const Instruction &in) {
       w.stop(in, "the kernel trapped with number " +
                      std::to_string(in.immediate & 0xff));
     },
     InstructionClass::Wait},
    waitOp("s_waitcnt"),
    waitOp("s_nop"),
    waitOp("s_sleep"),
    waitOp("s_setprio"),
    waitOp("s_icache_inv"),
    waitOp("s_incperflevel"),
    waitOp("s_decperflevel"),
    waitOp("s_ttracedata"),
    // Memory here is coherent at every instruction.
    waitOp("buffer_inv"),
    waitOp("buffer_wbl2"),
};

} // namespace

std::span<const Operation> programOperations() { return table; }

} // namespace winnow::sim
