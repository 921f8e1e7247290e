// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// V_SMFMAC: D += A * B where two of every four elements along K of A are zero
// and left out (CDNA4 ISA, "Sparse Matrices").
//
// B is dense: lane l holds column l % M, and of K either one run of consecutive
// elements, or two runs that lie half of K apart (the instructions with twice
// the K). Elements 2g and 2g + 1 of a lane of A belong to the g-th four
// elements of the same lane of B; a 2-bit index each says to which of the four.
// Lane l of the index register holds them for its own elements, in sets that
// abid picks while cbsz is 0; there is one set when it takes the whole
// register.
//
// Arithmetic is that of the dense instructions (Mfma.cpp).
#include "MfmaElements.h"
#include "MfmaLayout.h"

#include <cmath>

namespace winnow::sim {
namespace {

constexpr unsigned kRun = 32;

/// Places of one lane's elements of A along K.
template <Shape S, bool TwoRuns>
bool readIndices(Wave &w, const Instruction &in, unsigned lane,
                 unsigned *places) {
  constexpr unsigned count = S.perLane() / 2; // elements of A
  constexpr unsigned bits = 2 * count, sets = 32 / bits;
  unsigned set = in.cbsz & 3 ? 0 : in.abid % sets;
  uint32_t word = w.row(in.source[2].index)[lane] >> (bits * set);
  unsigned part = lane / S.m;
  for (unsigned e = 0; e < count; ++e) {
    unsigned index = word >> (2 * e) & 3;
    if (e % 2 && index <= (word >> (2 * (e - 1)) & 3)) {
      w.stop(in, "indices " + std::to_string(word >> (2 * (e - 1)) & 3) +
                     " and " + std::to_string(index) + " of lane " +
                     std::to_string(lane) + " do not ascend");
      return false;
    }
    unsigned at = e / 2 * 4 + index; // among the lane's elements of B
    constexpr unsigned run = TwoRuns ? S.perLane() / 2 : S.perLane();
    places[e] = at / run * (S.k / 2) + part * run + at % run;
  }
  return true;
}
template <Shape S, bool TwoRuns>
constexpr unsigned placeOfB(unsigned part, unsigned e) {
  constexpr unsigned run = TwoRuns ? S.perLane() / 2 : S.perLane();
  return e / run * (S.k / 2) + part * run + e % run;
}

template <Shape S, bool TwoRuns, Element E, unsigned FormatA, unsigned FormatB>
void smfmac(Wave &w, const Instruction &in) {
  constexpr unsigned m = S.m, k = S.k, perLane = S.perLane();
  if (in.blgp)
    return w.stop(in, "blgp of a compressed product is not simulated");
  alignas(64) float a[m][k], b[k][m];
  bool isThere[m][k] = {};
  const uint32_t *rowA = w.row(in.source[0].index);
  const uint32_t *rowB = w.row(in.source[1].index);
  for (unsigned l = 0; l < kLanes; ++l) {
    float values[perLane] = {};
    unsigned places[perLane / 2] = {};
    if (!readIndices<S, TwoRuns>(w, in, l, places))
      return;
    decodeLane<E>(rowA, l, perLane / 2, FormatA, values);
    for (unsigned e = 0; e < perLane / 2; ++e) {
      a[l % m][places[e]] = values[e];
      isThere[l % m][places[e]] = true;
    }
    decodeLane<E>(rowB, l, perLane, FormatB, values);
    for (unsigned e = 0; e < perLane; ++e)
      b[placeOfB<S, TwoRuns>(l / m, e)][l % m] = values[e];
  }
  constexpr unsigned registers = S.resultRegisters();
  uint32_t *d = w.row(in.destination.index);
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned l = 0; l < kLanes; ++l) {
      unsigned i = resultRow(S, r, l), j = l % m;
      float total = std::bit_cast<float>(d[r * kLanes + l]);
      for (unsigned k0 = 0; k0 < k; k0 += kRun) {
        float sum = 0;
        for (unsigned at = k0; at < std::min(k, k0 + kRun); ++at)
          if (isThere[i][at])
            sum = std::fma(a[i][at], b[at][j], sum);
        total += sum;
      }
      d[r * kLanes + l] =
          total != total ? 0x7fc00000u : std::bit_cast<uint32_t>(total);
    }
}

template <Shape S, bool TwoRuns>
void smfmacInteger(Wave &w, const Instruction &in) {
  constexpr unsigned m = S.m, k = S.k, perLane = S.perLane();
  if (in.blgp)
    return w.stop(in, "blgp of a compressed product is not simulated");
  int8_t a[m][k] = {}, b[k][m];
  const uint32_t *rowA = w.row(in.source[0].index);
  const uint32_t *rowB = w.row(in.source[1].index);
  auto byteOf = [](const uint32_t *row, unsigned lane, unsigned e) {
    return int8_t(row[e / 4 * kLanes + lane] >> (8 * (e & 3)));
  };
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned places[perLane / 2] = {};
    if (!readIndices<S, TwoRuns>(w, in, l, places))
      return;
    for (unsigned e = 0; e < perLane / 2; ++e)
      a[l % m][places[e]] = byteOf(rowA, l, e);
    for (unsigned e = 0; e < perLane; ++e)
      b[placeOfB<S, TwoRuns>(l / m, e)][l % m] = byteOf(rowB, l, e);
  }
  uint32_t *d = w.row(in.destination.index);
  for (unsigned r = 0; r < S.resultRegisters(); ++r)
    for (unsigned l = 0; l < kLanes; ++l) {
      uint32_t sum = d[r * kLanes + l];
      for (unsigned at = 0; at < k; ++at)
        sum += uint32_t(int32_t(a[resultRow(S, r, l)][at]) *
                        int32_t(b[at][l % m]));
      d[r * kLanes + l] = sum;
    }
}

constexpr Operation row(const char *name, Handler handler, const Shape &s,
                        unsigned bits, ValueType result) {
  Operation op{name, handler, InstructionClass::Mfma};
  op.result = result;
  op.flags = kSparse;
  op.dataRegisters = uint8_t(s.perLane() / 2 * bits / 32);
  op.resultRegisters = uint8_t(s.resultRegisters());
  return op;
}
template <Shape S, bool TwoRuns, Element E, unsigned FormatA = kFp8,
          unsigned FormatB = kFp8>
constexpr Operation floatOp(const char *name) {
  return row(name, &smfmac<S, TwoRuns, E, FormatA, FormatB>, S,
             bitsOfElement(E), ValueType::F32);
}
template <Shape S, bool TwoRuns>
constexpr Operation integerOp(const char *name) {
  return row(name, &smfmacInteger<S, TwoRuns>, S, 8, ValueType::B32);
}

using enum Element;
constexpr Shape k16x32{16, 32, 1}, k32x16{32, 16, 1}, k16x64{16, 64, 1},
    k32x32{32, 32, 1}, k16x128{16, 128, 1}, k32x64{32, 64, 1};

const Operation table[] = {
    floatOp<k16x32, false, F16>("v_smfmac_f32_16x16x32_f16"),
    floatOp<k32x16, false, F16>("v_smfmac_f32_32x32x16_f16"),
    floatOp<k16x32, false, Bf16>("v_smfmac_f32_16x16x32_bf16"),
    floatOp<k32x16, false, Bf16>("v_smfmac_f32_32x32x16_bf16"),
    floatOp<k16x64, true, F16>("v_smfmac_f32_16x16x64_f16"),
    floatOp<k32x32, true, F16>("v_smfmac_f32_32x32x32_f16"),
    floatOp<k16x64, true, Bf16>("v_smfmac_f32_16x16x64_bf16"),
    floatOp<k32x32, true, Bf16>("v_smfmac_f32_32x32x32_bf16"),
    integerOp<k16x64, false>("v_smfmac_i32_16x16x64_i8"),
    integerOp<k32x32, false>("v_smfmac_i32_32x32x32_i8"),
    integerOp<k16x128, true>("v_smfmac_i32_16x16x128_i8"),
    integerOp<k32x64, true>("v_smfmac_i32_32x32x64_i8"),
#define WINNOW_EIGHT_BIT(A, B, a, b)                                           \
  floatOp<k16x64, false, Fp8, A, B>("v_smfmac_f32_16x16x64_" a "_" b),         \
      floatOp<k32x32, false, Fp8, A, B>("v_smfmac_f32_32x32x32_" a "_" b),     \
      floatOp<k16x128, true, Fp8, A, B>("v_smfmac_f32_16x16x128_" a "_" b),    \
      floatOp<k32x64, true, Fp8, A, B>("v_smfmac_f32_32x32x64_" a "_" b)
    WINNOW_EIGHT_BIT(kFp8, kFp8, "fp8", "fp8"),
    WINNOW_EIGHT_BIT(kFp8, kBf8, "fp8", "bf8"),
    WINNOW_EIGHT_BIT(kBf8, kFp8, "bf8", "fp8"),
    WINNOW_EIGHT_BIT(kBf8, kBf8, "bf8", "bf8"),
#undef WINNOW_EIGHT_BIT
};

} // namespace

std::span<const Operation> mfmaCompressedOperations() { return table; }

} // namespace winnow::sim
