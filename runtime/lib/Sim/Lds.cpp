// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DS: loads, stores and atomics in LDS, and the lane permutations that share
// its crossbar. Active lanes take effect in ascending order.
#include "AtomicMath.h"
#include "Elf.h"
#include "LdsAccess.h"

#include <deque>
#include <string>

namespace winnow::sim {

uint8_t *ldsBytes(Wave &w, const Instruction &in, unsigned lane,
                  uint32_t address, unsigned size, AccessKind kind) {
  std::vector<uint8_t> &lds = w.group->lds;
  if (size <= lds.size() && address <= lds.size() - size) [[likely]]
    return lds.data() + address;
  const char *what = kind == AccessKind::Load    ? "load"
                     : kind == AccessKind::Store ? "store"
                                                 : "atomic";
  return w.outside(in, CheckKind::OutOfBounds,
                   std::string("LDS ") + what + " of " + std::to_string(size) +
                       " bytes at " + hex(address) + " by lane " +
                       std::to_string(lane) + ": the workgroup has " +
                       std::to_string(lds.size()) + " bytes of LDS");
}

namespace {

template <unsigned Size, bool Signed, int Half>
void ldsRead(Wave &w, const Instruction &in) {
  constexpr unsigned dwords = (Size + 3) / 4;
  alignas(64) uint32_t values[dwords][kLanes] = {};
  forLdsLanes(w, in, wideOffset(in), Size, AccessKind::Load,
              [&](unsigned l, const uint8_t *bytes) {
                uint32_t words[dwords] = {};
                std::memcpy(words, bytes, Size);
                if constexpr (Signed)
                  words[0] = uint32_t(int32_t(words[0] << (32 - 8 * Size)) >>
                                      (32 - 8 * Size));
                for (unsigned d = 0; d < dwords; ++d)
                  values[d][l] = words[d];
              });
  if (w.state == WaveState::Stopped)
    return;
  if constexpr (Half >= 0) {
    const uint32_t *old = w.row(in.destination.index);
    for (unsigned l = 0; l < kLanes; ++l)
      values[0][l] = Half == 0 ? (old[l] & 0xffff0000) | (values[0][l] & 0xffff)
                               : (old[l] & 0xffff) | values[0][l] << 16;
  }
  for (unsigned d = 0; d < dwords; ++d)
    commit(w, in.destination.index + d, values[d], w.exec());
}

template <unsigned Size, bool HighHalf>
void ldsWrite(Wave &w, const Instruction &in) {
  constexpr unsigned dwords = (Size + 3) / 4;
  const uint32_t *data = w.row(in.source[1].index);
  forLdsLanes(w, in, wideOffset(in), Size, AccessKind::Store,
              [&](unsigned l, uint8_t *bytes) {
                uint32_t words[dwords];
                for (unsigned d = 0; d < dwords; ++d)
                  words[d] = data[d * kLanes + l];
                if constexpr (HighHalf)
                  words[0] >>= 16;
                std::memcpy(bytes, words, Size);
              });
}

/// Two accesses; offsets count elements, or 64 elements for the st64 forms.
template <unsigned Size, unsigned Stride>
void ldsRead2(Wave &w, const Instruction &in) {
  constexpr unsigned dwords = Size / 4;
  alignas(64) uint32_t values[2 * dwords][kLanes] = {};
  for (unsigned half = 0; half < 2; ++half) {
    uint32_t offset =
        uint32_t(half ? in.immediate2 : in.immediate) * Size * Stride;
    forLdsLanes(w, in, offset, Size, AccessKind::Load,
                [&](unsigned l, const uint8_t *bytes) {
                  uint32_t words[dwords];
                  std::memcpy(words, bytes, Size);
                  for (unsigned d = 0; d < dwords; ++d)
                    values[half * dwords + d][l] = words[d];
                });
  }
  if (w.state == WaveState::Stopped)
    return;
  for (unsigned d = 0; d < 2 * dwords; ++d)
    commit(w, in.destination.index + d, values[d], w.exec());
}
template <unsigned Size, unsigned Stride>
void ldsWrite2(Wave &w, const Instruction &in) {
  constexpr unsigned dwords = Size / 4;
  for (unsigned half = 0; half < 2; ++half) {
    uint32_t offset =
        uint32_t(half ? in.immediate2 : in.immediate) * Size * Stride;
    const uint32_t *data = w.row(in.source[1 + half].index);
    forLdsLanes(w, in, offset, Size, AccessKind::Store,
                [&](unsigned l, uint8_t *bytes) {
                  uint32_t words[dwords];
                  for (unsigned d = 0; d < dwords; ++d)
                    words[d] = data[d * kLanes + l];
                  std::memcpy(bytes, words, Size);
                });
  }
}

/// ds_cmpst: data0 is what is expected, data1 the new value.
template <typename T, bool Returns>
void ldsCompareStore(Wave &w, const Instruction &in) {
  LaneBuffer old{};
  forLdsLanes(w, in, wideOffset(in), sizeof(T), AccessKind::Atomic,
              [&](unsigned l, uint8_t *bytes) {
                if (!isAligned(w, in, bytes, sizeof(T)))
                  return;
                T before;
                std::memcpy(&before, bytes, sizeof(T));
                if (before == dataOf<T>(w, in.source[1], l)) {
                  T after = dataOf<T>(w, in.source[2], l);
                  std::memcpy(bytes, &after, sizeof(T));
                }
                setLane(old, l, before);
              });
  if (Returns)
    returnOld<T>(w, in, old);
}

/// Lane i reads from lane address/4. An inactive source lane gives 0.
void backwardPermute(Wave &w, const Instruction &in) {
  const uint32_t *address = w.row(in.source[0].index);
  const uint32_t *data = w.row(in.source[1].index);
  uint64_t exec = w.exec();
  uint32_t values[kLanes] = {};
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned from = (address[l] + wideOffset(in)) / 4 % kLanes;
    values[l] = exec >> from & 1 ? data[from] : 0;
  }
  commit(w, in.destination.index, values, exec);
}
/// Lane i writes to lane address/4; the highest lane wins, lanes that nobody
/// writes get 0.
void forwardPermute(Wave &w, const Instruction &in) {
  const uint32_t *address = w.row(in.source[0].index);
  const uint32_t *data = w.row(in.source[1].index);
  uint64_t exec = w.exec();
  uint32_t values[kLanes] = {};
  for (unsigned l = 0; l < kLanes; ++l)
    if (exec >> l & 1)
      values[(address[l] + wideOffset(in)) / 4 % kLanes] = data[l];
  commit(w, in.destination.index, values, exec);
}
/// The pattern is in the offset (CDNA4 ISA, DS_SWIZZLE_B32).
void swizzle(Wave &w, const Instruction &in) {
  uint32_t pattern = wideOffset(in);
  const uint32_t *data = w.row(in.source[0].index);
  uint64_t exec = w.exec();
  uint32_t values[kLanes] = {};
  if (pattern >= 0xe000)
    return w.stop(in, "an FFT swizzle is not simulated");
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned from;
    if (pattern >= 0xc000) { // rotate within 32 lanes
      unsigned n = pattern >> 5 & 31, mask = pattern & 31, at = l & 31;
      unsigned turned = pattern & 0x400 ? at - n : at + n;
      from = (l & 32) | (at & mask) | (turned & ~mask & 31);
    } else if (pattern & 0x8000) { // quad permute
      from = (l & ~3u) | (pattern >> (2 * (l & 3)) & 3);
    } else { // bit masks within 32 lanes
      unsigned bits = ((l & 31) & (pattern & 31)) | (pattern >> 5 & 31);
      from = (l & 32) | ((bits ^ (pattern >> 10 & 31)) & 31);
    }
    values[l] = exec >> from & 1 ? data[from] : 0;
  }
  commit(w, in.destination.index, values, exec);
}

class Table {
public:
  Table() {
    reads();
    writes();
    integers<uint32_t, int32_t>("u32", "i32", "b32");
    integers<uint64_t, int64_t>("u64", "i64", "b64");
    row("ds_bpermute_b32", &backwardPermute, 1, 1, 1);
    row("ds_permute_b32", &forwardPermute, 1, 1, 1);
    row("ds_swizzle_b32", &swizzle, 0, 0, 1);
    rows.push_back(
        {"ds_nop", [](Wave &, const Instruction &) {}, InstructionClass::Lds});
  }
  std::vector<Operation> rows;

private:
  void row(std::string name, Handler handler, unsigned operands, unsigned data,
           unsigned result) {
    Operation op{names.emplace_back(std::move(name)).c_str(), handler,
                 InstructionClass::Lds};
    op.sources[0] = ValueType::B32;
    for (unsigned i = 0; i < operands; ++i)
      op.sources[1 + i] = ValueType::B32;
    op.dataRegisters = uint8_t(data);
    op.resultRegisters = uint8_t(result);
    rows.push_back(op);
  }
  void reads() {
    row("ds_read_u8", &ldsRead<1, false, -1>, 0, 0, 1);
    row("ds_read_i8", &ldsRead<1, true, -1>, 0, 0, 1);
    row("ds_read_u16", &ldsRead<2, false, -1>, 0, 0, 1);
    row("ds_read_i16", &ldsRead<2, true, -1>, 0, 0, 1);
    row("ds_read_u8_d16", &ldsRead<1, false, 0>, 0, 0, 1);
    row("ds_read_u8_d16_hi", &ldsRead<1, false, 1>, 0, 0, 1);
    row("ds_read_i8_d16", &ldsRead<1, true, 0>, 0, 0, 1);
    row("ds_read_i8_d16_hi", &ldsRead<1, true, 1>, 0, 0, 1);
    row("ds_read_u16_d16", &ldsRead<2, false, 0>, 0, 0, 1);
    row("ds_read_u16_d16_hi", &ldsRead<2, false, 1>, 0, 0, 1);
    row("ds_read_b32", &ldsRead<4, false, -1>, 0, 0, 1);
    row("ds_read_b64", &ldsRead<8, false, -1>, 0, 0, 2);
    row("ds_read_b96", &ldsRead<12, false, -1>, 0, 0, 3);
    row("ds_read_b128", &ldsRead<16, false, -1>, 0, 0, 4);
    row("ds_read2_b32", &ldsRead2<4, 1>, 0, 0, 2);
    row("ds_read2_b64", &ldsRead2<8, 1>, 0, 0, 4);
    row("ds_read2st64_b32", &ldsRead2<4, 64>, 0, 0, 2);
    row("ds_read2st64_b64", &ldsRead2<8, 64>, 0, 0, 4);
  }
  void writes() {
    row("ds_write_b8", &ldsWrite<1, false>, 1, 1, 0);
    row("ds_write_b8_d16_hi", &ldsWrite<1, true>, 1, 1, 0);
    row("ds_write_b16", &ldsWrite<2, false>, 1, 1, 0);
    row("ds_write_b16_d16_hi", &ldsWrite<2, true>, 1, 1, 0);
    row("ds_write_b32", &ldsWrite<4, false>, 1, 1, 0);
    row("ds_write_b64", &ldsWrite<8, false>, 1, 2, 0);
    row("ds_write_b96", &ldsWrite<12, false>, 1, 3, 0);
    row("ds_write_b128", &ldsWrite<16, false>, 1, 4, 0);
    row("ds_write2_b32", &ldsWrite2<4, 1>, 2, 1, 0);
    row("ds_write2_b64", &ldsWrite2<8, 1>, 2, 2, 0);
    row("ds_write2st64_b32", &ldsWrite2<4, 64>, 2, 1, 0);
    row("ds_write2st64_b64", &ldsWrite2<8, 64>, 2, 2, 0);
  }
  template <typename T, auto Fn>
  void atomics(const std::string &what, const std::string &type,
               unsigned size) {
    row("ds_" + what + "_" + type, &ldsAtomic<T, Fn, false>, 1, size, 0);
    row("ds_" + what + "_rtn_" + type, &ldsAtomic<T, Fn, true>, 1, size, size);
  }
  template <typename U, typename S>
  void integers(const char *u, const char *s, const std::string &b) {
    unsigned n = sizeof(U) / 4;
    atomics<U, atomic::add>("add", u, n);
    atomics<U, atomic::sub>("sub", u, n);
    atomics<U, atomic::rsub>("rsub", u, n);
    atomics<U, atomic::increment>("inc", u, n);
    atomics<U, atomic::decrement>("dec", u, n);
    atomics<S, atomic::minimum>("min", s, n);
    atomics<S, atomic::maximum>("max", s, n);
    atomics<U, atomic::minimum>("min", u, n);
    atomics<U, atomic::maximum>("max", u, n);
    atomics<U, atomic::bitAnd>("and", b, n);
    atomics<U, atomic::bitOr>("or", b, n);
    atomics<U, atomic::bitXor>("xor", b, n);
    row("ds_wrxchg_rtn_" + b, &ldsAtomic<U, atomic::exchange, true>, 1, n, n);
    row("ds_cmpst_" + b, &ldsCompareStore<U, false>, 2, n, 0);
    row("ds_cmpst_rtn_" + b, &ldsCompareStore<U, true>, 2, n, n);
  }
  std::deque<std::string> names;
};

} // namespace

std::span<const Operation> ldsOperations() {
  static const Table table;
  return table.rows;
}

} // namespace winnow::sim
