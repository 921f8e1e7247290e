// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rarer DS instructions: float and packed atomics with MODE's denormals,
// masked and two-place exchanges, counters of lanes, addresses by lane, and
// the transposing loads of matrix operands.
#include "AtomicMath.h"
#include "Elf.h"
#include "LdsAccess.h"

#include <bit>
#include <deque>

namespace winnow::sim {
namespace {

// Which denormals MODE keeps: of f32, and of f16 and f64.
template <typename T> struct Denormals {
  bool keepsInput, keepsOutput;
  explicit Denormals(const Wave &w) {
    unsigned field = w.mode >> (sizeof(T) == 4 ? 4 : 6);
    keepsInput = field & 1;
    keepsOutput = field >> 1 & 1;
  }
  static T flush(T v) {
    return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(T(0), v) : v;
  }
  T input(T v) const { return keepsInput ? v : flush(v); }
  T output(T v) const { return keepsOutput ? v : flush(v); }
};

// Sums flush as MODE says, but for f64; minimum and maximum compare flushed
// values and keep what they choose as it is (CDNA4 ISA, "Float Memory Atomics",
// "Denormal Handling").
template <typename T> T floatSum(const Wave &w, T old, T v) {
  if constexpr (sizeof(T) == 8)
    return addOf(old, v);
  Denormals<T> d(w);
  return d.output(addOf(d.input(old), d.input(v)));
}
template <typename T, bool Maximum> T floatSelect(const Wave &w, T old, T v) {
  Denormals<T> d(w);
  T a = d.input(old), b = d.input(v);
  T r = Maximum ? maxOf<true>(a, b) : minOf<true>(a, b);
  using U = typename BitsOf<T>::Type;
  if (std::bit_cast<U>(r) == std::bit_cast<U>(a))
    return a == a ? old : a;
  return std::bit_cast<U>(r) == std::bit_cast<U>(b) && b == b ? v : r;
}
template <bool Bfloat>
uint32_t packedSum(const Wave &w, uint32_t old, uint32_t v) {
  // The field of f16 is the one of f64, too.
  bool keepsInput = w.mode >> 6 & 1, keepsOutput = w.mode >> 7 & 1;
  constexpr uint16_t exponent = Bfloat ? 0x7f80 : 0x7c00;
  auto flush = [](uint16_t h, bool keeps) {
    return keeps || h & exponent ? h : uint16_t(h & 0x8000);
  };
  uint32_t out = 0;
  for (unsigned shift : {0u, 16u}) {
    uint16_t a = flush(uint16_t(old >> shift), keepsInput);
    uint16_t b = flush(uint16_t(v >> shift), keepsInput);
    uint16_t sum =
        Bfloat ? floatToBfloat(addOf(bfloatToFloat(a), bfloatToFloat(b)))
               : floatToHalf(addOf(halfToFloat(a), halfToFloat(b)));
    out |= uint32_t(flush(sum, keepsOutput)) << shift;
  }
  return out;
}

/// Fn(old, data0, data1) gives the new value.
template <typename T, auto Fn, bool Returns>
void twoOperandAtomic(Wave &w, const Instruction &in) {
  LaneBuffer old{};
  forLdsLanes(w, in, wideOffset(in), sizeof(T), AccessKind::Atomic,
              [&](unsigned l, uint8_t *bytes) {
                if (!isAligned(w, in, bytes, sizeof(T)))
                  return;
                T before;
                std::memcpy(&before, bytes, sizeof(T));
                T after = Fn(before, dataOf<T>(w, in.source[1], l),
                             dataOf<T>(w, in.source[2], l));
                std::memcpy(bytes, &after, sizeof(T));
                setLane(old, l, before);
              });
  if (Returns)
    returnOld<T>(w, in, old);
}
constexpr auto maskedOr = [](auto old, auto mask, auto bits) {
  return decltype(old)((old & ~mask) | bits);
};
constexpr auto wrap = [](uint32_t old, uint32_t subtrahend, uint32_t addend) {
  return old >= subtrahend ? old - subtrahend : old + addend;
};

/// ds_cmpst of floats: NaN equals nothing, -0 equals +0.
template <typename T, bool Returns>
void floatCompareStore(Wave &w, const Instruction &in) {
  LaneBuffer old{};
  Denormals<T> denormals(w);
  forLdsLanes(w, in, wideOffset(in), sizeof(T), AccessKind::Atomic,
              [&](unsigned l, uint8_t *bytes) {
                if (!isAligned(w, in, bytes, sizeof(T)))
                  return;
                T before;
                std::memcpy(&before, bytes, sizeof(T));
                T expected = dataOf<T>(w, in.source[1], l),
                  next = dataOf<T>(w, in.source[2], l);
                if (!denormals.keepsInput &&
                    (std::fpclassify(before) == FP_SUBNORMAL ||
                     std::fpclassify(expected) == FP_SUBNORMAL ||
                     std::fpclassify(next) == FP_SUBNORMAL))
                  return w.stop(
                      in, "a denormal in a compare and store that flushes "
                          "them is not simulated");
                if (before == expected)
                  std::memcpy(bytes, &next, sizeof(T));
                setLane(old, l, before);
              });
  if (Returns)
    returnOld<T>(w, in, old);
}

/// Two exchanges, whose offsets count elements or 64 of them.
template <unsigned Size, unsigned Stride>
void exchangeTwo(Wave &w, const Instruction &in) {
  constexpr unsigned dwords = Size / 4;
  alignas(64) uint32_t old[2 * dwords][kLanes] = {};
  // The first exchange of a lane comes before its second.
  const uint32_t *address = w.row(in.source[0].index);
  uint64_t exec = w.exec();
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned half = 0; exec >> l & 1 && half < 2; ++half) {
      uint32_t offset =
          uint32_t(half ? in.immediate2 : in.immediate) * Size * Stride;
      uint8_t *bytes =
          ldsBytes(w, in, l, address[l] + offset, Size, AccessKind::Atomic);
      if (!bytes || !isAligned(w, in, bytes, Size))
        return;
      ++w.group->changes;
      for (unsigned d = 0; d < dwords; ++d) {
        std::memcpy(&old[half * dwords + d][l], bytes + 4 * d, 4);
        std::memcpy(bytes + 4 * d, &w.row(in.source[1 + half].index + d)[l], 4);
      }
    }
  for (unsigned d = 0; d < 2 * dwords; ++d)
    commit(w, in.destination.index + d, old[d], exec);
}

/// Each dword is exchanged, without its top bit, where that bit is set.
uint64_t conditionalExchange(const Wave &, uint64_t old, uint64_t data) {
  for (unsigned shift : {0u, 32u})
    if (data >> (shift + 31) & 1)
      old = (old & ~(uint64_t(0xffffffff) << shift)) |
            (data >> shift & 0x7fffffff) << shift;
  return old;
}

/// ds_append and ds_consume: the number of active lanes, once for the wave.
template <int Sign> void countLanes(Wave &w, const Instruction &in) {
  uint64_t exec = w.exec();
  if (!exec)
    return;
  uint8_t *bytes = ldsBytes(w, in, unsigned(std::countr_zero(exec)),
                            wideOffset(in), 4, AccessKind::Atomic);
  if (!bytes || !isAligned(w, in, bytes, 4))
    return;
  ++w.group->changes;
  uint32_t before;
  std::memcpy(&before, bytes, 4);
  uint32_t after = before + uint32_t(Sign * std::popcount(exec));
  std::memcpy(bytes, &after, 4);
  uint32_t values[kLanes];
  std::fill(values, values + kLanes, before);
  commit(w, in.destination.index, values, exec);
}

/// The lane's number is the address: M0[15:0] + offset + 4 * lane.
template <bool Store> void byLane(Wave &w, const Instruction &in) {
  uint64_t exec = w.exec();
  uint32_t base = (w.sgpr[kM0] & 0xffff) + wideOffset(in);
  uint32_t *row = w.row(Store ? in.source[1].index : in.destination.index);
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(exec >> l & 1))
      continue;
    uint8_t *bytes = ldsBytes(w, in, l, base + 4 * l, 4,
                              Store ? AccessKind::Store : AccessKind::Load);
    if (!bytes)
      return;
    w.group->changes += Store;
    if (Store)
      std::memcpy(bytes, &row[l], 4);
    else
      std::memcpy(&row[l], bytes, 4);
  }
}

/// Sixteen lanes read a matrix of R rows and 16 columns, R elements of a row
/// each: lane i has row i / (16 / R), columns from R * (i % (16 / R)). Lane j
/// gets column j, rows 0 to R - 1 (CDNA4 ISA, "MFMA Transpose Load from LDS":
/// a lane holds consecutive M or N before and consecutive K after).
template <unsigned Bits> void transposingRead(Wave &w, const Instruction &in) {
  constexpr unsigned kRows = Bits == 16 ? 4 : Bits == 8 ? 8 : 16;
  constexpr unsigned kDwords = kRows * Bits / 32, kSize = 4 * kDwords;
  constexpr unsigned kLanesOfRow = 16 / kRows;
  if (w.exec() != ~uint64_t(0))
    return w.stop(in, "a transposing load with inactive lanes, which it must "
                      "not have");
  uint32_t data[kLanes][kDwords] = {};
  forLdsLanes(w, in, wideOffset(in), kSize, AccessKind::Load,
              [&](unsigned l, const uint8_t *bytes) {
                // 96 bits are known to load from multiples of 128 alone.
                isAligned(w, in, bytes, Bits == 6 ? 16 : kSize,
                          "a transposing load");
                std::memcpy(data[l], bytes, kSize);
              });
  if (w.state == WaveState::Stopped)
    return;
  auto element = [&](unsigned lane, unsigned i) {
    uint64_t window = data[lane][i * Bits / 32];
    if (i * Bits / 32 + 1 < kDwords)
      window |= uint64_t(data[lane][i * Bits / 32 + 1]) << 32;
    return uint32_t(window >> (i * Bits % 32)) & ((1u << Bits) - 1);
  };
  alignas(64) uint32_t out[kDwords][kLanes] = {};
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned row = 0; row < kRows; ++row) {
      unsigned column = l % 16;
      unsigned from = l / 16 * 16 + row * kLanesOfRow + column / kRows;
      uint64_t value = uint64_t(element(from, column % kRows))
                       << (row * Bits % 32);
      unsigned d = row * Bits / 32;
      out[d][l] |= uint32_t(value);
      if (d + 1 < kDwords)
        out[d + 1][l] |= uint32_t(value >> 32);
    }
  for (unsigned d = 0; d < kDwords; ++d)
    commit(w, in.destination.index + d, out[d], w.exec());
}

class Table {
public:
  Table() {
    floats<float>("f32", 1);
    floats<double>("f64", 2);
    both<&ldsAtomic<uint32_t, &packedSum<false>, false>,
         &ldsAtomic<uint32_t, &packedSum<false>, true>>("ds_pk_add", "f16", 1,
                                                        1);
    both<&ldsAtomic<uint32_t, &packedSum<true>, false>,
         &ldsAtomic<uint32_t, &packedSum<true>, true>>("ds_pk_add", "bf16", 1,
                                                       1);
    both<&twoOperandAtomic<uint32_t, maskedOr, false>,
         &twoOperandAtomic<uint32_t, maskedOr, true>>("ds_mskor", "b32", 2, 1);
    both<&twoOperandAtomic<uint64_t, maskedOr, false>,
         &twoOperandAtomic<uint64_t, maskedOr, true>>("ds_mskor", "b64", 2, 2);
    row("ds_wrap_rtn_b32", &twoOperandAtomic<uint32_t, wrap, true>, 2, 1, 1);
    row("ds_wrxchg2_rtn_b32", &exchangeTwo<4, 1>, 2, 1, 2);
    row("ds_wrxchg2_rtn_b64", &exchangeTwo<8, 1>, 2, 2, 4);
    row("ds_wrxchg2st64_rtn_b32", &exchangeTwo<4, 64>, 2, 1, 2);
    row("ds_wrxchg2st64_rtn_b64", &exchangeTwo<8, 64>, 2, 2, 4);
    row("ds_condxchg32_rtn_b64",
        &ldsAtomic<uint64_t, &conditionalExchange, true>, 1, 2, 2);
    row("ds_read_b64_tr_b16", &transposingRead<16>, 0, 0, 2);
    row("ds_read_b64_tr_b8", &transposingRead<8>, 0, 0, 2);
    row("ds_read_b64_tr_b4", &transposingRead<4>, 0, 0, 2);
    row("ds_read_b96_tr_b6", &transposingRead<6>, 0, 0, 3);
    row("ds_append", &countLanes<1>, 0, 0, 1, false);
    row("ds_consume", &countLanes<-1>, 0, 0, 1, false);
    row("ds_read_addtid_b32", &byLane<false>, 0, 0, 1, false);
    row("ds_write_addtid_b32", &byLane<true>, 1, 1, 0, false);
  }
  std::vector<Operation> rows;

private:
  void row(std::string name, Handler handler, unsigned operands, unsigned data,
           unsigned result, bool hasAddress = true) {
    Operation op{names.emplace_back(std::move(name)).c_str(), handler,
                 InstructionClass::Lds};
    if (hasAddress)
      op.sources[0] = ValueType::B32;
    for (unsigned i = 0; i < operands; ++i)
      op.sources[1 + i] = ValueType::B32;
    op.dataRegisters = uint8_t(data);
    op.resultRegisters = uint8_t(result);
    rows.push_back(op);
  }
  template <Handler Plain, Handler Returning>
  void both(const std::string &what, const std::string &type, unsigned operands,
            unsigned registers) {
    row(what + "_" + type, Plain, operands, registers, 0);
    row(what + "_rtn_" + type, Returning, operands, registers, registers);
  }
  template <typename T> void floats(const std::string &type, unsigned n) {
    both<&ldsAtomic<T, &floatSum<T>, false>, &ldsAtomic<T, &floatSum<T>, true>>(
        "ds_add", type, 1, n);
    both<&ldsAtomic<T, &floatSelect<T, false>, false>,
         &ldsAtomic<T, &floatSelect<T, false>, true>>("ds_min", type, 1, n);
    both<&ldsAtomic<T, &floatSelect<T, true>, false>,
         &ldsAtomic<T, &floatSelect<T, true>, true>>("ds_max", type, 1, n);
    both<&floatCompareStore<T, false>, &floatCompareStore<T, true>>("ds_cmpst",
                                                                    type, 2, n);
  }
  std::deque<std::string> names;
};

} // namespace

std::span<const Operation> ldsExchangeOperations() {
  static const Table table;
  return table.rows;
}

} // namespace winnow::sim
