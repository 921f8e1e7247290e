// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sixteen lanes of a register row are a vector of four bytes each: shifting the
// wanted byte to the top, then its exponent and fraction into an f32's place,
// decodes sixteen elements with no table. Products of 8-bit floats are exact in
// f32, so that multiplying and adding equals the fused operation.
#include "MfmaEightBit.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace winnow::sim {
namespace {

constexpr unsigned kWide = 16;
using Words = uint32_t __attribute__((vector_size(4 * kWide)));
using Signed = int32_t __attribute__((vector_size(4 * kWide)));
using Floats = float __attribute__((vector_size(4 * kWide)));

/// Partial sums start from zero after this many k, as in Mfma.cpp.
constexpr unsigned kRun = 32;

// Vectors pass by reference: by value, their calling convention depends on the
// instruction set.
template <typename T> void loadVector(T &value, const void *from) {
  std::memcpy(&value, from, sizeof(T));
}

template <unsigned M, unsigned K> struct Decoded {
  alignas(64) float at[K][M];
  /// Magnitude bits that any element of the row (or column) has.
  alignas(64) uint32_t any[M];
  bool isFinite = true;

  unsigned rowsInUse() const {
    return unsigned(std::count_if(any, any + M, [](uint32_t v) { return v; }));
  }
};

template <unsigned M, unsigned K, bool TwoRuns, bool IsBf8>
void decode(const uint32_t *registers, Decoded<M, K> &out) {
  constexpr unsigned parts = kLanes / M, perLane = K / parts;
  // e4m3 has a bias of 7, e5m2 of 15, f32 of 127.
  constexpr float scale = IsBf8 ? 0x1p112f : 0x1p120f;
  constexpr int shift = IsBf8 ? 3 : 4;
  constexpr int32_t keep = int32_t(0x80000000u | 0x7f000000u >> shift);
  // A byte that carries into its top bit here is no finite number: e4m3 has
  // one NaN, e5m2 a whole exponent.
  constexpr uint32_t significant = IsBf8 ? 0x7c7c7c7cu : 0x7f7f7f7fu;
  constexpr uint32_t carry = IsBf8 ? 0x04040404u : 0x01010101u;
  Words special = {};
  for (unsigned n = 0; n < M; n += kWide) {
    Words any = {};
    for (unsigned part = 0; part < parts; ++part)
      for (unsigned d = 0; d < perLane / 4; ++d) {
        Words words;
        loadVector(words, registers + d * kLanes + part * M + n);
        any |= words & 0x7f7f7f7fu;
        special |= (words & significant) + carry;
        for (unsigned j = 0; j < 4; ++j) {
          unsigned e = 4 * d + j;
          unsigned k = TwoRuns ? 16 * part + e % 16 + K / 2 * (e / 16)
                               : part * perLane + e;
          Signed bits = (Signed)(words << (24 - 8 * j)) >> shift & keep;
          Floats value = (Floats)bits * scale; // the same bits
          std::memcpy(&out.at[k][n], &value, sizeof(value));
        }
      }
    std::memcpy(&out.any[n], &any, sizeof(any));
  }
  for (unsigned i = 0; i < kWide; ++i)
    out.isFinite &= !(special[i] & 0x80808080u);
}

/// out[i][n] = c[i][n] + sum over k of x[k][i] * y[k][n]; rows of x that hold
/// zeros only add +0.
template <unsigned M, unsigned K>
void multiply(const Decoded<M, K> &x, const Decoded<M, K> &y, float (*out)[M]) {
#ifdef __clang__
#pragma clang fp contract(fast)
#endif
  constexpr unsigned runs = (K + kRun - 1) / kRun, length = std::min(K, kRun);
  for (unsigned i = 0; i < M; ++i)
    for (unsigned n = 0; n < M; n += kWide) {
      Floats total, row;
      loadVector(total, &out[i][n]);
      if (!x.any[i]) {
        total += 0.0f; // -0 becomes +0, as it does by adding
      } else {
        Floats sums[runs] = {};
        for (unsigned j = 0; j < length; ++j)
          for (unsigned run = 0; run < runs; ++run) {
            loadVector(row, &y.at[run * kRun + j][n]);
            sums[run] += x.at[run * kRun + j][i] * row;
          }
        for (unsigned run = 0; run < runs; ++run)
          total += sums[run];
      }
      std::memcpy(&out[i][n], &total, sizeof(total));
    }
}

/// Row of result register r in lane l (Mfma.cpp has the layout's source).
template <unsigned M> constexpr unsigned resultRow(unsigned r, unsigned lane) {
  return M == 16 ? 4 * (lane / 16) + r : 8 * (r / 4) + 4 * (lane / 32) + r % 4;
}

} // namespace

template <unsigned M, unsigned K, bool TwoRuns>
bool multiplyEightBit(const EightBitProduct &product) {
  Decoded<M, K> a, b;
  if (product.isBf8A)
    decode<M, K, TwoRuns, true>(product.a, a);
  else
    decode<M, K, TwoRuns, false>(product.a, a);
  if (product.isBf8B)
    decode<M, K, TwoRuns, true>(product.b, b);
  else
    decode<M, K, TwoRuns, false>(product.b, b);
  if (!a.isFinite || !b.isFinite)
    return false;

  constexpr unsigned registers = M * M / kLanes;
  // A decode has one query and zeros in its place of fifteen: the operand with
  // fewer rows in use leads, and the result is transposed for it.
  bool swapped = b.rowsInUse() < a.rowsInUse();
  alignas(64) float out[M][M];
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned l = 0; l < kLanes; ++l) {
      unsigned i = resultRow<M>(r, l), n = l % M;
      (swapped ? out[n][i] : out[i][n]) = std::bit_cast<float>(
          product.c ? product.c[r * kLanes + l] : product.constant);
    }
  if (swapped)
    multiply(b, a, out);
  else
    multiply(a, b, out);
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned l = 0; l < kLanes; ++l) {
      unsigned i = resultRow<M>(r, l), n = l % M;
      float v = swapped ? out[n][i] : out[i][n];
      product.d[r * kLanes + l] =
          v != v ? 0x7fc00000u : std::bit_cast<uint32_t>(v);
    }
  return true;
}

template bool multiplyEightBit<16, 128, true>(const EightBitProduct &);
template bool multiplyEightBit<32, 64, true>(const EightBitProduct &);
template bool multiplyEightBit<16, 32, false>(const EightBitProduct &);
template bool multiplyEightBit<32, 16, false>(const EightBitProduct &);

} // namespace winnow::sim
