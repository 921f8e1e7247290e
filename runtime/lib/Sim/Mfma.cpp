// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix instructions: D = A * B + C over the 64 lanes, whatever EXEC says.
//
// Register layout (CDNA4 ISA, "Matrix Arithmetic Instructions"), M = N:
//   A: lane l holds row l % M, B: lane l holds column l % M. l / M counts the
//      blocks when there are several (then each lane holds all of K), else it
//      picks the part of K that the lane holds.
//   D: of 16x16, register r of lane l is row 4*(l/16) + r, column l % 16; of
//      32x32, row 8*(r/4) + 4*(l/32) + r%4, column l % 32; of 4x4, row r,
//      column l % 4 of block l / 4. Blocks of larger shapes follow each other
//      in the registers.
//   K: element e of a lane is k = part * (elements a lane) + e. The 8-bit
//      operands of the f8f6f4 instructions come in two runs of 16 bytes: e is
//      k = 16 * part + e % 16 + (K / 2) * (e / 16).
//   Scales: the byte of lane l scales row (or column) l % M for the 32 elements
//      of K from 32 * (l / M).
//
// Arithmetic: products are exact (f16 and smaller) or rounded by the fused
// multiply-add (bf16, f32); they are summed in f32, to nearest even, by
// ascending k. Each run of 32 k starts from zero, is multiplied by its scales
// (exactly, but for f32's range), and is then added to the accumulator. The
// hardware's order is not documented, so results are within the bound of f32
// accumulation of each other, not equal. Denormals are kept, NaN and infinity
// propagate, the NaN is the positive default.
#include "Lanes.h"
#include "MfmaEightBit.h"
#include "MfmaElements.h"
#include "MfmaLayout.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace winnow::sim {
namespace {

constexpr unsigned kRun = 32;

/// The k of element e that lane part `part` holds.
template <Shape S>
constexpr unsigned kOf(unsigned part, unsigned e, bool inTwoRuns) {
  if (inTwoRuns)
    return 16 * part + e % 16 + S.k / 2 * (e / 16);
  return part * S.perLane() + e;
}

/// The scale exponents of an operand, [row or column][run of 32 k]; E8M0 with
/// 255 for NaN (OCP Microscaling Formats).
struct Scales {
  bool isUsed = false;
  bool hasNan = false;
  int16_t exponent[32][4];
};
constexpr int16_t kNanScale = 0x7fff;

template <Shape S>
void readScales(Wave &w, const Instruction &in, unsigned which, Scales &out) {
  const Operand &s = in.scale[which];
  if (s.kind == Operand::Kind::None)
    return;
  out.isUsed = true;
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t word =
        s.kind == Operand::Kind::Vgpr ? w.row(s.index)[l] : readScalar32(w, s);
    uint32_t code = word >> (8 * s.select) & 0xff;
    out.exponent[l % S.m][l / S.m] =
        code == 255 ? kNanScale : int16_t(int(code) - 127);
    out.hasNan |= code == 255;
  }
}

/// Scales that are there but change nothing.
template <Shape S> bool areOne(const Scales &a, const Scales &b) {
  if (!a.isUsed)
    return true;
  if (a.hasNan || b.hasNan)
    return false;
  for (unsigned i = 0; i < S.m; ++i)
    for (unsigned run = 0; run < kLanes / S.m; ++run)
      if (a.exponent[i][run] || b.exponent[i][run])
        return false;
  return true;
}

/// The way of finite 8-bit operands; false when they are something else.
template <Shape S, Element E>
bool tryEightBit(Wave &w, const Instruction &in, unsigned formatA,
                 unsigned formatB, const Scales &scaleA, const Scales &scaleB) {
  if constexpr (S.blocks == 1 && (E == Element::Fp8 || E == Element::F8f6f4)) {
    if (bitsOf(formatA) != 8 || bitsOf(formatB) != 8 ||
        !areOne<S>(scaleA, scaleB))
      return false;
    EightBitProduct product;
    product.a = w.row(in.source[0].index);
    product.b = w.row(in.source[1].index);
    if (in.source[2].kind == Operand::Kind::Vgpr)
      product.c = w.row(in.source[2].index);
    product.constant = uint32_t(in.source[2].value);
    product.isBf8A = formatA == kBf8;
    product.isBf8B = formatB == kBf8;
    product.d = w.row(in.destination.index);
    return multiplyEightBit<S.m, S.k, E == Element::F8f6f4>(product);
  }
  return false;
}

float defaultNan(float v) {
  return v != v ? std::bit_cast<float>(0x7fc00000u) : v;
}

template <Shape S, Element E, unsigned FormatA, unsigned FormatB>
void mfma(Wave &w, const Instruction &in) {
  constexpr unsigned m = S.m, k = S.k, parts = S.laneParts();
  constexpr unsigned perLane = S.perLane();
  LaneMaps lanesOf;
  bool isMapped = false;
  if constexpr (E != Element::F8f6f4) {
    isMapped = in.cbsz || in.abid || in.blgp;
    if (isMapped && !mapLanes(w, in, S.blocks, lanesOf))
      return;
  }
  unsigned formatA = E == Element::F8f6f4 ? in.cbsz : FormatA;
  unsigned formatB = E == Element::F8f6f4 ? in.blgp : FormatB;
  bool runsA = E == Element::F8f6f4 && bitsOf(formatA) == 8;
  bool runsB = E == Element::F8f6f4 && bitsOf(formatB) == 8;

  Scales scaleA, scaleB;
  if constexpr (E == Element::F8f6f4) {
    readScales<S>(w, in, 0, scaleA);
    readScales<S>(w, in, 1, scaleB);
  }
  if (!isMapped && tryEightBit<S, E>(w, in, formatA, formatB, scaleA, scaleB))
    return;

  // a[row][k] and b[k][column] of one block at a time.
  alignas(64) float a[S.blocks][m][k];
  alignas(64) float b[S.blocks][k][m];
  const uint32_t *rowA = w.row(in.source[0].index);
  const uint32_t *rowB = w.row(in.source[1].index);
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned block = S.blocks > 1 ? l / m : 0;
    unsigned part = S.blocks > 1 ? 0 : l / m;
    static_assert(S.blocks == 1 || parts == 1);
    float values[perLane] = {};
    decodeLane<E>(rowA, isMapped ? lanesOf.a[l] : l, perLane, formatA, values);
    for (unsigned e = 0; e < perLane; ++e)
      a[block][l % m][kOf<S>(part, e, runsA)] = values[e];
    decodeLane<E>(rowB, isMapped ? lanesOf.b[l] : l, perLane, formatB, values);
    for (unsigned e = 0; e < perLane; ++e)
      b[block][kOf<S>(part, e, runsB)][l % m] = values[e];
  }
  constexpr unsigned registers = S.resultRegisters();
  const Operand &c = in.source[2];
  alignas(64) float d[S.blocks][m][m];
  for (unsigned r = 0; r < registers; ++r) {
    const uint32_t *row =
        c.kind == Operand::Kind::Vgpr ? w.row(c.index + r) : nullptr;
    for (unsigned l = 0; l < kLanes; ++l)
      d[resultBlock(S, r, l)][resultRow(S, r, l)][l % m] =
          std::bit_cast<float>(row ? row[l] : uint32_t(c.value));
  }

  for (unsigned block = 0; block < S.blocks; ++block)
    for (unsigned i = 0; i < m; ++i)
      for (unsigned k0 = 0; k0 < k; k0 += kRun) {
        alignas(64) float sum[m] = {};
        for (unsigned j = k0; j < std::min(k, k0 + kRun); ++j) {
          float x = a[block][i][j];
          const float *y = b[block][j];
          for (unsigned n = 0; n < m; ++n)
            sum[n] = std::fma(x, y[n], sum[n]);
        }
        if constexpr (E == Element::F8f6f4)
          if (scaleA.isUsed)
            for (unsigned n = 0; n < m; ++n) {
              int16_t ea = scaleA.exponent[i][k0 / kRun];
              int16_t eb = scaleB.exponent[n][k0 / kRun];
              if (ea == kNanScale || eb == kNanScale)
                sum[n] = std::bit_cast<float>(0x7fc00000u);
              else if (ea + eb)
                sum[n] = float(std::ldexp(double(sum[n]), ea + eb));
            }
        for (unsigned n = 0; n < m; ++n)
          d[block][i][n] += sum[n];
      }

  for (unsigned r = 0; r < registers; ++r) {
    uint32_t *row = w.row(in.destination.index + r);
    for (unsigned l = 0; l < kLanes; ++l)
      row[l] = std::bit_cast<uint32_t>(
          defaultNan(d[resultBlock(S, r, l)][resultRow(S, r, l)][l % m]));
  }
}

/// i8 products in i32, which wraps.
template <Shape S> void mfmaInteger(Wave &w, const Instruction &in) {
  constexpr unsigned m = S.m, k = S.k, perLane = S.perLane();
  LaneMaps lanesOf;
  if (!mapLanes(w, in, S.blocks, lanesOf))
    return;
  int8_t a[S.blocks][m][k], b[S.blocks][k][m];
  const uint32_t *rowA = w.row(in.source[0].index);
  const uint32_t *rowB = w.row(in.source[1].index);
  for (unsigned l = 0; l < kLanes; ++l) {
    unsigned block = S.blocks > 1 ? l / m : 0;
    unsigned part = S.blocks > 1 ? 0 : l / m;
    for (unsigned e = 0; e < perLane; ++e) {
      unsigned at = part * perLane + e, row = e / 4 * kLanes,
               shift = 8 * (e & 3);
      a[block][l % m][at] = int8_t(rowA[row + lanesOf.a[l]] >> shift);
      b[block][at][l % m] = int8_t(rowB[row + lanesOf.b[l]] >> shift);
    }
  }
  constexpr unsigned registers = S.resultRegisters();
  const Operand &c = in.source[2];
  uint32_t out[registers][kLanes];
  for (unsigned r = 0; r < registers; ++r)
    for (unsigned l = 0; l < kLanes; ++l) {
      uint32_t sum = c.kind == Operand::Kind::Vgpr ? w.row(c.index + r)[l]
                                                   : uint32_t(c.value);
      unsigned i = resultRow(S, r, l), block = resultBlock(S, r, l);
      for (unsigned j = 0; j < k; ++j)
        sum += uint32_t(int32_t(a[block][i][j]) * int32_t(b[block][j][l % m]));
      out[r][l] = sum;
    }
  for (unsigned r = 0; r < registers; ++r)
    std::memcpy(w.row(in.destination.index + r), out[r], sizeof(out[r]));
}

template <Shape S, Element E, unsigned FormatA = kFp8, unsigned FormatB = kFp8>
constexpr Operation mfmaOp(const char *name) {
  Operation op{name, &mfma<S, E, FormatA, FormatB>, InstructionClass::Mfma};
  op.result = ValueType::F32;
  op.dataRegisters = uint8_t(S.perLane() * bitsOfElement(E) / 32);
  op.resultRegisters = uint8_t(S.resultRegisters());
  return op;
}
template <Shape S> constexpr Operation integerOp(const char *name) {
  Operation op{name, &mfmaInteger<S>, InstructionClass::Mfma};
  op.result = ValueType::B32;
  op.dataRegisters = uint8_t(S.perLane() / 4);
  op.resultRegisters = uint8_t(S.resultRegisters());
  return op;
}

using enum Element;

const Operation table[] = {
    mfmaOp<Shape{16, 128, 1}, F8f6f4>("v_mfma_f32_16x16x128_f8f6f4"),
    mfmaOp<Shape{32, 64, 1}, F8f6f4>("v_mfma_f32_32x32x64_f8f6f4"),
    mfmaOp<Shape{16, 128, 1}, F8f6f4>("v_mfma_scale_f32_16x16x128_f8f6f4"),
    mfmaOp<Shape{32, 64, 1}, F8f6f4>("v_mfma_scale_f32_32x32x64_f8f6f4"),
    mfmaOp<Shape{16, 32, 1}, Fp8, kFp8, kFp8>("v_mfma_f32_16x16x32_fp8_fp8"),
    mfmaOp<Shape{16, 32, 1}, Fp8, kFp8, kBf8>("v_mfma_f32_16x16x32_fp8_bf8"),
    mfmaOp<Shape{16, 32, 1}, Fp8, kBf8, kFp8>("v_mfma_f32_16x16x32_bf8_fp8"),
    mfmaOp<Shape{16, 32, 1}, Fp8, kBf8, kBf8>("v_mfma_f32_16x16x32_bf8_bf8"),
    mfmaOp<Shape{32, 16, 1}, Fp8, kFp8, kFp8>("v_mfma_f32_32x32x16_fp8_fp8"),
    mfmaOp<Shape{32, 16, 1}, Fp8, kFp8, kBf8>("v_mfma_f32_32x32x16_fp8_bf8"),
    mfmaOp<Shape{32, 16, 1}, Fp8, kBf8, kFp8>("v_mfma_f32_32x32x16_bf8_fp8"),
    mfmaOp<Shape{32, 16, 1}, Fp8, kBf8, kBf8>("v_mfma_f32_32x32x16_bf8_bf8"),
    mfmaOp<Shape{16, 32, 1}, F16>("v_mfma_f32_16x16x32_f16"),
    mfmaOp<Shape{16, 32, 1}, Bf16>("v_mfma_f32_16x16x32_bf16"),
    mfmaOp<Shape{32, 16, 1}, F16>("v_mfma_f32_32x32x16_f16"),
    mfmaOp<Shape{32, 16, 1}, Bf16>("v_mfma_f32_32x32x16_bf16"),
    mfmaOp<Shape{16, 16, 1}, F16>("v_mfma_f32_16x16x16_f16"),
    mfmaOp<Shape{16, 16, 1}, Bf16>("v_mfma_f32_16x16x16_bf16"),
    mfmaOp<Shape{32, 8, 1}, F16>("v_mfma_f32_32x32x8_f16"),
    mfmaOp<Shape{32, 8, 1}, Bf16>("v_mfma_f32_32x32x8_bf16"),
    mfmaOp<Shape{16, 4, 4}, F16>("v_mfma_f32_16x16x4_4b_f16"),
    mfmaOp<Shape{16, 4, 4}, Bf16>("v_mfma_f32_16x16x4_4b_bf16"),
    mfmaOp<Shape{32, 4, 2}, F16>("v_mfma_f32_32x32x4_2b_f16"),
    mfmaOp<Shape{32, 4, 2}, Bf16>("v_mfma_f32_32x32x4_2b_bf16"),
    mfmaOp<Shape{4, 4, 16}, F16>("v_mfma_f32_4x4x4_16b_f16"),
    mfmaOp<Shape{4, 4, 16}, Bf16>("v_mfma_f32_4x4x4_16b_bf16"),
    mfmaOp<Shape{16, 4, 1}, F32>("v_mfma_f32_16x16x4_f32"),
    mfmaOp<Shape{32, 2, 1}, F32>("v_mfma_f32_32x32x2_f32"),
    mfmaOp<Shape{16, 1, 4}, F32>("v_mfma_f32_16x16x1_4b_f32"),
    mfmaOp<Shape{32, 1, 2}, F32>("v_mfma_f32_32x32x1_2b_f32"),
    mfmaOp<Shape{4, 1, 16}, F32>("v_mfma_f32_4x4x1_16b_f32"),
    integerOp<Shape{16, 64, 1}>("v_mfma_i32_16x16x64_i8"),
    integerOp<Shape{32, 32, 1}>("v_mfma_i32_32x32x32_i8"),
    integerOp<Shape{16, 32, 1}>("v_mfma_i32_16x16x32_i8"),
    integerOp<Shape{32, 16, 1}>("v_mfma_i32_32x32x16_i8"),
    integerOp<Shape{32, 4, 2}>("v_mfma_i32_32x32x4_2b_i8"),
    integerOp<Shape{16, 4, 4}>("v_mfma_i32_16x16x4_4b_i8"),
    integerOp<Shape{4, 4, 16}>("v_mfma_i32_4x4x4_16b_i8"),
};

} // namespace

std::span<const Operation> mfmaOperations() { return table; }

} // namespace winnow::sim
