// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SMEM: loads into scalar registers, and the clock.
#include "Elf.h"
#include "Wave.h"

namespace winnow::sim {
namespace {

template <unsigned Dwords> void scalarLoad(Wave &w, const Instruction &in) {
  uint64_t address = readScalar64(w, in.source[0]) + int64_t(in.immediate);
  if (in.source[1].kind != Operand::Kind::None)
    address += readScalar32(w, in.source[1]);
  // The two low address bits are ignored (CDNA4 ISA, "Scalar Memory").
  address &= ~uint64_t(3);
  const uint8_t *from = w.memory.resolve(address, 4 * Dwords);
  if (!from)
    return w.stop(in, "scalar load of " + std::to_string(4 * Dwords) +
                          " bytes at " + hex(address) +
                          " is outside every live allocation: " +
                          w.memory.all().describeNear(address));
  w.group->bytesLoaded += 4 * Dwords;
  std::memcpy(&w.sgpr[in.destination.index], from, 4 * Dwords);
}

template <unsigned Dwords> constexpr Operation loadOp(const char *name) {
  Operation op{name, &scalarLoad<Dwords>, InstructionClass::ScalarMemory};
  op.dataRegisters = Dwords;
  return op;
}

void readClock(Wave &w, const Instruction &in) {
  w.setPair(in.destination.index, w.group->executed);
}
void nothing(Wave &, const Instruction &) {}

constexpr Operation clockOp(const char *name) {
  Operation op{name, &readClock, InstructionClass::ScalarMemory};
  op.dataRegisters = 2;
  return op;
}

const Operation table[] = {
    loadOp<1>("s_load_dword"),
    loadOp<2>("s_load_dwordx2"),
    loadOp<4>("s_load_dwordx4"),
    loadOp<8>("s_load_dwordx8"),
    loadOp<16>("s_load_dwordx16"),
    clockOp("s_memtime"),
    clockOp("s_memrealtime"),
    {"s_dcache_inv", &nothing, InstructionClass::Wait},
    {"s_dcache_wb", &nothing, InstructionClass::Wait},
};

} // namespace

std::span<const Operation> scalarMemoryOperations() { return table; }

} // namespace winnow::sim
