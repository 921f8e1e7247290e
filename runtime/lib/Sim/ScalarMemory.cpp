// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SMEM: loads into scalar registers, and the clock.
#include "Elf.h"
#include "MemoryAccess.h"

namespace winnow::sim {

bool scalarAddress(Wave &w, const Instruction &in, unsigned size,
                   uint64_t &address) {
  int64_t offset = in.immediate;
  if (in.source[1].kind != Operand::Kind::None)
    offset += readScalar32(w, in.source[1]);
  uint64_t base = w.pair(in.source[0].index);
  if (in.isBuffer) {
    // Base, stride and NumRecords of the descriptor count; the stride is for
    // the bounds alone (CDNA4 ISA, "Reads/Writes/Atomics using Buffer
    // Constant").
    uint64_t stride = base >> 48 & 0x3fff;
    uint64_t bytes =
        uint64_t(w.sgpr[in.source[0].index + 2]) * (stride ? stride : 1);
    base &= (uint64_t(1) << 48) - 1;
    offset &= ~int64_t(3);
    if (offset < 0 || uint64_t(offset) + size > bytes) {
      w.stop(in, "it reaches " + std::to_string(size) + " bytes at offset " +
                     std::to_string(offset) + " of a buffer of " +
                     std::to_string(bytes) +
                     " bytes: what becomes of dwords out of range is not "
                     "documented");
      return false;
    }
  }
  // The two low address bits are ignored (CDNA4 ISA, "Scalar Memory").
  address = (base + uint64_t(offset)) & ~uint64_t(3);
  return true;
}

namespace {

template <unsigned Dwords> void scalarLoad(Wave &w, const Instruction &in) {
  uint64_t address;
  if (!scalarAddress(w, in, 4 * Dwords, address))
    return;
  const uint8_t *from = w.memory.resolve(address, 4 * Dwords);
  if (!from)
    from = w.outside(in, outsideKind(w, address),
                     "scalar load of " + std::to_string(4 * Dwords) +
                         " bytes at " + hex(address) +
                         " is outside every live allocation: " +
                         w.memory.all().describeNear(address));
  if (!from)
    return;
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
  // A loop that reads the clock may end by itself.
  ++w.group->changes;
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
    loadOp<1>("s_buffer_load_dword"),
    loadOp<2>("s_buffer_load_dwordx2"),
    loadOp<4>("s_buffer_load_dwordx4"),
    loadOp<8>("s_buffer_load_dwordx8"),
    loadOp<16>("s_buffer_load_dwordx16"),
    clockOp("s_memtime"),
    clockOp("s_memrealtime"),
    {"s_dcache_inv", &nothing, InstructionClass::Wait},
    {"s_dcache_wb", &nothing, InstructionClass::Wait},
    {"s_dcache_inv_vol", &nothing, InstructionClass::Wait},
    {"s_dcache_wb_vol", &nothing, InstructionClass::Wait},
};

} // namespace

std::span<const Operation> scalarMemoryOperations() { return table; }

} // namespace winnow::sim
