// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MUBUF: loads and stores through a buffer descriptor, whose range check makes
// lanes read zeros and drop stores (CDNA4 ISA, "Buffer Addressing").
#include "Elf.h"
#include "LoadToLds.h"

#include <algorithm>
#include <deque>
#include <string>

namespace winnow::sim {

namespace {

/// The 128 bits of a descriptor (CDNA4 ISA, "Buffer Resource Descriptor").
struct Descriptor {
  uint64_t base;
  uint32_t stride, records;
  unsigned dataFormat, type;
  bool isSwizzled, addsLane, isTiled;

  explicit Descriptor(const uint32_t *words)
      : base(uint64_t(words[1] & 0xffff) << 32 | words[0]),
        stride(words[1] >> 16 & 0x3fff), records(words[2]),
        dataFormat(words[3] >> 15 & 15), type(words[3] >> 30),
        isSwizzled(words[1] >> 31), addsLane(words[3] >> 23 & 1),
        isTiled(words[3] >> 19 & 1) {}

  /// What of it is not simulated, or null.
  const char *problem(const Instruction &in) const {
    if (type)
      return "its descriptor is not one of a buffer (bits 126 and 127)";
    if (isSwizzled)
      return "a swizzled buffer (descriptor bit 63) is not simulated";
    if (isTiled)
      return "a buffer in a tiled pool (descriptor bit 115) is not simulated";
    if (addsLane && in.usesIndex)
      return "an index beside the lane that the descriptor adds is not "
             "simulated";
    if (!addsLane && !dataFormat && records)
      return "its descriptor has data format 0, an unbound buffer, but records";
    if (!addsLane && in.usesIndex && !stride)
      return "an index into a buffer whose stride is 0: how its range is "
             "checked is not documented";
    return nullptr;
  }
};

} // namespace

bool bufferAddresses(Wave &w, const Instruction &in, unsigned size,
                     LaneAddresses &out) {
  Descriptor d(&w.sgpr[in.source[2].index]);
  if (const char *problem = d.problem(in)) {
    w.stop(in, problem);
    return false;
  }
  const uint32_t scalarOffset = readScalar32(w, in.scale[0]);
  const uint32_t *index = in.usesIndex ? w.row(in.source[0].index) : nullptr;
  const uint32_t *offsets =
      in.usesOffset ? w.row(in.source[0].index + in.usesIndex) : nullptr;
  // Atomics are in range as a whole, others dword by dword.
  const bool isWhole = in.kind == InstructionClass::VectorAtomic || size < 4;
  const unsigned unit = isWhole ? size : 4;
  // With the lane added, the format's place holds the stride's upper bits.
  const uint32_t laneStride = d.addsLane ? d.dataFormat << 14 | d.stride : 0;
  uint64_t exec = w.exec();
  out.lanes = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(exec >> l & 1))
      continue;
    auto stop = [&](const std::string &what) {
      w.stop(in, "buffer access of lane " + std::to_string(l) + ": " + what);
      return false;
    };
    uint64_t offset =
        uint64_t(offsets ? offsets[l] : 0) + uint32_t(in.immediate);
    if (offset >> 32)
      return stop("its offset " + hex(offset) + " passes 32 bits");
    uint64_t address = d.base + scalarOffset + offset +
                       uint64_t(laneStride) * l +
                       uint64_t(index ? index[l] : 0) * d.stride;
    unsigned inRange = 0;
    if (d.addsLane || (index && index[l] < d.records)) {
      inRange = size;
    } else if (!index) {
      // The manual counts a dword in whose offset is below NumRecords, and
      // leaves the scalar offset out; AMD's own simulator has hardware count
      // the scalar offset and the dword's end. Only where both agree is known.
      unsigned byManual = 0, byHardware = 0;
      for (unsigned at = 0; at < size; at += unit) {
        byManual += offset + at < d.records ? unit : 0;
        byHardware += offset + scalarOffset + at + unit <= d.records ? unit : 0;
      }
      if (byManual != byHardware)
        return stop("offset " + hex(offset) + ", scalar offset " +
                    hex(scalarOffset) + " and " + std::to_string(size) +
                    " bytes at NumRecords " + hex(d.records) +
                    ": whether that is in range is not documented");
      inRange = byManual;
    }
    if (!inRange)
      continue;
    if (address >> 48)
      return stop("its address " + hex(address) + " passes 48 bits");
    // "The two LSBs are ignored", unless the driver allows unaligned access.
    if (size >= 4 && address % 4)
      return stop("its address " + hex(address) +
                  " is not a multiple of 4, which is not documented");
    out.at[l] = address;
    out.bytes[l] = uint8_t(inRange);
    out.lanes |= uint64_t(1) << l;
  }
  return true;
}

namespace {

enum class Place { Whole, Extend, LowHalf, HighHalf };

/// One lane's data, zeros where it is out of range; false after a fault.
bool readLane(Wave &w, const Instruction &in, const LaneAddresses &a,
              unsigned lane, uint32_t *words) {
  if (!(a.lanes >> lane & 1))
    return true;
  const uint8_t *bytes =
      laneBytes(w, in, a, lane, a.bytes[lane], AccessKind::Load);
  if (!bytes)
    return false;
  std::memcpy(words, bytes, a.bytes[lane]);
  w.group->bytesLoaded += a.bytes[lane];
  return true;
}

template <unsigned Size, Place How, bool IsSigned>
void bufferLoad(Wave &w, const Instruction &in) {
  constexpr unsigned dwords = (Size + 3) / 4;
  if (in.loadsLds)
    return How == Place::Whole || How == Place::Extend
               ? loadToLds<Size, IsSigned, false>(w, in)
               : w.stop(in, "a 16-bit load to LDS is not simulated");
  LaneAddresses addresses;
  if (!bufferAddresses(w, in, Size, addresses))
    return;
  alignas(64) uint32_t values[dwords][kLanes] = {};
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t words[dwords] = {};
    if (!readLane(w, in, addresses, l, words))
      return;
    if constexpr (IsSigned)
      words[0] =
          uint32_t(int32_t(words[0] << (32 - 8 * Size)) >> (32 - 8 * Size));
    for (unsigned d = 0; d < dwords; ++d)
      values[d][l] = words[d];
  }
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

template <unsigned Size, bool HighHalf>
void bufferStore(Wave &w, const Instruction &in) {
  constexpr unsigned dwords = (Size + 3) / 4;
  LaneAddresses addresses;
  if (!bufferAddresses(w, in, Size, addresses))
    return;
  const uint32_t *data = w.row(in.source[1].index);
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(addresses.lanes >> l & 1))
      continue;
    uint32_t words[dwords];
    for (unsigned d = 0; d < dwords; ++d)
      words[d] = data[d * kLanes + l];
    if constexpr (HighHalf)
      words[0] >>= 16;
    uint8_t *bytes =
        laneBytes(w, in, addresses, l, addresses.bytes[l], AccessKind::Store);
    if (!bytes)
      return;
    changing(w, AccessKind::Store, bytes, addresses.bytes[l],
             [&] { std::memcpy(bytes, words, addresses.bytes[l]); });
    w.group->bytesStored += addresses.bytes[l];
  }
}

constexpr Operation loadOp(const char *name, Handler handler,
                           unsigned registers) {
  Operation op{name, handler, InstructionClass::VectorLoad};
  op.resultRegisters = uint8_t(registers);
  return op;
}
constexpr Operation storeOp(const char *name, Handler handler,
                            unsigned registers) {
  Operation op{name, handler, InstructionClass::VectorStore};
  op.sources[1] = ValueType::B32;
  op.dataRegisters = uint8_t(registers);
  return op;
}

using enum Place;
const Operation table[] = {
    loadOp("buffer_load_ubyte", &bufferLoad<1, Extend, false>, 1),
    loadOp("buffer_load_sbyte", &bufferLoad<1, Extend, true>, 1),
    loadOp("buffer_load_ushort", &bufferLoad<2, Extend, false>, 1),
    loadOp("buffer_load_sshort", &bufferLoad<2, Extend, true>, 1),
    loadOp("buffer_load_dword", &bufferLoad<4, Whole, false>, 1),
    loadOp("buffer_load_dwordx2", &bufferLoad<8, Whole, false>, 2),
    loadOp("buffer_load_dwordx3", &bufferLoad<12, Whole, false>, 3),
    loadOp("buffer_load_dwordx4", &bufferLoad<16, Whole, false>, 4),
    loadOp("buffer_load_ubyte_d16", &bufferLoad<1, LowHalf, false>, 1),
    loadOp("buffer_load_ubyte_d16_hi", &bufferLoad<1, HighHalf, false>, 1),
    loadOp("buffer_load_sbyte_d16", &bufferLoad<1, LowHalf, true>, 1),
    loadOp("buffer_load_sbyte_d16_hi", &bufferLoad<1, HighHalf, true>, 1),
    loadOp("buffer_load_short_d16", &bufferLoad<2, LowHalf, false>, 1),
    loadOp("buffer_load_short_d16_hi", &bufferLoad<2, HighHalf, false>, 1),
    storeOp("buffer_store_byte", &bufferStore<1, false>, 1),
    storeOp("buffer_store_byte_d16_hi", &bufferStore<1, true>, 1),
    storeOp("buffer_store_short", &bufferStore<2, false>, 1),
    storeOp("buffer_store_short_d16_hi", &bufferStore<2, true>, 1),
    storeOp("buffer_store_dword", &bufferStore<4, false>, 1),
    storeOp("buffer_store_dwordx2", &bufferStore<8, false>, 2),
    storeOp("buffer_store_dwordx3", &bufferStore<12, false>, 3),
    storeOp("buffer_store_dwordx4", &bufferStore<16, false>, 4),
};

} // namespace

std::span<const Operation> bufferMemoryOperations() { return table; }

} // namespace winnow::sim
