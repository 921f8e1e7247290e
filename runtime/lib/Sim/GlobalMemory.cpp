// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Flat, global and scratch loads and stores.
#include "Elf.h"
#include "MemoryAccess.h"

#include <cstdlib>
#include <deque>
#include <string>

namespace winnow::sim {

bool laneAddresses(Wave &w, const Instruction &in, unsigned size,
                   LaneAddresses &out) {
  if (in.isBuffer)
    return bufferAddresses(w, in, size, out);
  out.lanes = w.exec();
  const Operand &address = in.source[0], &base = in.source[2];
  int64_t offset = in.immediate;
  if (out.isScratch) {
    uint64_t start = uint64_t(offset);
    if (base.kind != Operand::Kind::None)
      start += readScalar32(w, base);
    const uint32_t *low =
        address.kind == Operand::Kind::Vgpr ? w.row(address.index) : nullptr;
    for (unsigned l = 0; l < kLanes; ++l)
      out.at[l] = start + (low ? low[l] : 0);
    return true;
  }
  const uint32_t *low = w.row(address.index);
  if (base.kind != Operand::Kind::None) {
    uint64_t start = readScalar64(w, base) + uint64_t(offset);
    for (unsigned l = 0; l < kLanes; ++l)
      out.at[l] = start + low[l];
    return true;
  }
  const uint32_t *high = low + kLanes;
  for (unsigned l = 0; l < kLanes; ++l)
    out.at[l] = (uint64_t(high[l]) << 32 | low[l]) + uint64_t(offset);
  return true;
}

static const char *nameOf(AccessKind kind) {
  return kind == AccessKind::Load    ? "load"
         : kind == AccessKind::Store ? "store"
                                     : "atomic";
}

uint8_t *laneBytes(Wave &w, const Instruction &in, const LaneAddresses &a,
                   unsigned lane, unsigned size, AccessKind kind) {
  uint64_t address = a.at[lane];
  bool inPrivate =
      address >= kPrivateBase && address - kPrivateBase < kApertureSize;
  if (a.isScratch || inPrivate) {
    // Scratch addresses wrap at 32 bits, as the hardware adds them.
    uint64_t offset = uint32_t(a.isScratch ? address : address - kPrivateBase);
    uint64_t limit = w.group->privateSegmentSize;
    if (size <= limit && offset <= limit - size)
      return w.scratch.data() + lane * limit + offset;
    return w.outside(in, CheckKind::OutOfBounds,
                     std::string("scratch ") + nameOf(kind) + " of " +
                         std::to_string(size) + " bytes at offset " +
                         hex(offset) + " by lane " + std::to_string(lane) +
                         ": the kernel has " + std::to_string(limit) +
                         " bytes of scratch a lane");
  }
  if (address >= kSharedBase && address - kSharedBase < kApertureSize)
    return ldsBytes(w, in, lane, uint32_t(address - kSharedBase), size, kind);
  if (uint8_t *bytes = w.memory.resolve(address, size))
    return bytes;
  return w.outside(in, outsideKind(w, address),
                   std::string("global ") + nameOf(kind) + " of " +
                       std::to_string(size) + " bytes at " + hex(address) +
                       " by lane " + std::to_string(lane) +
                       " is outside every live allocation: " +
                       w.memory.all().describeNear(address));
}

namespace {

/// How a load places the bytes that it read.
enum class Place { Whole, ZeroExtend, SignExtend, LowHalf, HighHalf };

template <unsigned Size, Place How, bool IsSigned, bool Scratch>
void load(Wave &w, const Instruction &in) {
  constexpr unsigned dwords = (Size + 3) / 4;
  LaneAddresses addresses;
  addresses.isScratch = Scratch;
  laneAddresses(w, in, Size, addresses);
  // All lanes are read before one is written: the destination may overlap the
  // address registers.
  alignas(64) uint32_t values[dwords][kLanes] = {};
  bool ok = forLanes(w, in, addresses, Size, AccessKind::Load,
                     [&](unsigned l, const uint8_t *bytes) {
                       if constexpr (How == Place::Whole) {
                         uint32_t words[dwords];
                         std::memcpy(words, bytes, Size);
                         for (unsigned d = 0; d < dwords; ++d)
                           values[d][l] = words[d];
                       } else {
                         uint32_t value = 0;
                         std::memcpy(&value, bytes, Size);
                         if constexpr (IsSigned)
                           value = uint32_t(int32_t(value << (32 - 8 * Size)) >>
                                            (32 - 8 * Size));
                         values[0][l] = value;
                       }
                     });
  if (!ok)
    return;
  if constexpr (How == Place::LowHalf || How == Place::HighHalf) {
    const uint32_t *old = w.row(in.destination.index);
    for (unsigned l = 0; l < kLanes; ++l)
      values[0][l] = How == Place::LowHalf
                         ? (old[l] & 0xffff0000) | (values[0][l] & 0xffff)
                         : (old[l] & 0xffff) | values[0][l] << 16;
  }
  for (unsigned d = 0; d < dwords; ++d)
    commit(w, in.destination.index + d, values[d], w.exec());
}

template <unsigned Size, bool HighHalf, bool Scratch>
void store(Wave &w, const Instruction &in) {
  constexpr unsigned dwords = (Size + 3) / 4;
  LaneAddresses addresses;
  addresses.isScratch = Scratch;
  laneAddresses(w, in, Size, addresses);
  const uint32_t *data = w.row(in.source[1].index);
  forLanes(w, in, addresses, Size, AccessKind::Store,
           [&](unsigned l, uint8_t *bytes) {
             uint32_t words[dwords];
             for (unsigned d = 0; d < dwords; ++d)
               words[d] = data[d * kLanes + l];
             if constexpr (HighHalf)
               words[0] >>= 16;
             std::memcpy(bytes, words, Size);
           });
}

class Table {
public:
  Table() {
    add<false>("flat_");
    add<false>("global_");
    add<true>("scratch_");
  }
  std::vector<Operation> rows;

private:
  void row(const char *prefix, const char *what, Handler handler,
           InstructionClass kind, unsigned registers) {
    Operation op{names.emplace_back(std::string(prefix) + what).c_str(),
                 handler, kind};
    op.sources[0] = ValueType::B32;
    if (kind == InstructionClass::VectorStore) {
      op.sources[1] = ValueType::B32;
      op.dataRegisters = uint8_t(registers);
    } else {
      op.resultRegisters = uint8_t(registers);
    }
    rows.push_back(op);
  }
  template <bool S> void add(const char *prefix) {
    constexpr InstructionClass kLoad = InstructionClass::VectorLoad,
                               kStore = InstructionClass::VectorStore;
    using enum Place;
    row(prefix, "load_ubyte", &load<1, ZeroExtend, false, S>, kLoad, 1);
    row(prefix, "load_sbyte", &load<1, SignExtend, true, S>, kLoad, 1);
    row(prefix, "load_ushort", &load<2, ZeroExtend, false, S>, kLoad, 1);
    row(prefix, "load_sshort", &load<2, SignExtend, true, S>, kLoad, 1);
    row(prefix, "load_dword", &load<4, Whole, false, S>, kLoad, 1);
    row(prefix, "load_dwordx2", &load<8, Whole, false, S>, kLoad, 2);
    row(prefix, "load_dwordx3", &load<12, Whole, false, S>, kLoad, 3);
    row(prefix, "load_dwordx4", &load<16, Whole, false, S>, kLoad, 4);
    row(prefix, "load_ubyte_d16", &load<1, LowHalf, false, S>, kLoad, 1);
    row(prefix, "load_ubyte_d16_hi", &load<1, HighHalf, false, S>, kLoad, 1);
    row(prefix, "load_sbyte_d16", &load<1, LowHalf, true, S>, kLoad, 1);
    row(prefix, "load_sbyte_d16_hi", &load<1, HighHalf, true, S>, kLoad, 1);
    row(prefix, "load_short_d16", &load<2, LowHalf, false, S>, kLoad, 1);
    row(prefix, "load_short_d16_hi", &load<2, HighHalf, false, S>, kLoad, 1);
    row(prefix, "store_byte", &store<1, false, S>, kStore, 1);
    row(prefix, "store_byte_d16_hi", &store<1, true, S>, kStore, 1);
    row(prefix, "store_short", &store<2, false, S>, kStore, 1);
    row(prefix, "store_short_d16_hi", &store<2, true, S>, kStore, 1);
    row(prefix, "store_dword", &store<4, false, S>, kStore, 1);
    row(prefix, "store_dwordx2", &store<8, false, S>, kStore, 2);
    row(prefix, "store_dwordx3", &store<12, false, S>, kStore, 3);
    row(prefix, "store_dwordx4", &store<16, false, S>, kStore, 4);
  }
  std::deque<std::string> names;
};

} // namespace

std::span<const Operation> globalMemoryOperations() {
  static const Table table;
  return table.rows;
}

} // namespace winnow::sim
