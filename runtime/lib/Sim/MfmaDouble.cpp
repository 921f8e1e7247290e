// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix instructions of f64. A value takes two registers. A: lane i + M * (b +
// B * k) holds A[b][i][k], B alike. D: rows follow each other in the lanes, one
// to a lane group, with 64 / (N * B) rows in a register pair (CDNA4 ISA,
// "Output layout", H = 1). blgp negates A, B and C; cbsz and abid are ignored.
//
// Sums go from C by ascending k, fused, to nearest even; the hardware's order
// is not documented.
#include "FloatMath.h"
#include "MfmaLayout.h"

namespace winnow::sim {
namespace {

double valueAt(const uint32_t *low, unsigned lane, bool negate) {
  double v =
      std::bit_cast<double>(uint64_t(low[kLanes + lane]) << 32 | low[lane]);
  return negate ? -v : v;
}

template <Shape S> void mfmaDouble(Wave &w, const Instruction &in) {
  constexpr unsigned m = S.m, blocks = S.blocks;
  static_assert(S.perLane() == 1);
  constexpr unsigned rowsOfPair = kLanes / (m * blocks), pairs = m / rowsOfPair;
  const uint32_t *a = w.row(in.source[0].index);
  const uint32_t *b = w.row(in.source[1].index);
  const Operand &c = in.source[2];
  bool negateA = in.blgp & 1, negateB = in.blgp & 2, negateC = in.blgp & 4;
  alignas(64) uint32_t out[2 * pairs][kLanes];
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned i = 0; i < m; ++i)
      for (unsigned j = 0; j < m; ++j) {
        unsigned pair = i / rowsOfPair;
        unsigned lane = j + m * (i % rowsOfPair + rowsOfPair * block);
        double sum = c.kind == Operand::Kind::Vgpr
                         ? valueAt(w.row(c.index + 2 * pair), lane, negateC)
                     : negateC ? -std::bit_cast<double>(c.value)
                               : std::bit_cast<double>(c.value);
        for (unsigned k = 0; k < S.k; ++k)
          sum = fmaOf(valueAt(a, i + m * (block + blocks * k), negateA),
                      valueAt(b, j + m * (block + blocks * k), negateB), sum);
        uint64_t bits = std::bit_cast<uint64_t>(sum);
        out[2 * pair][lane] = uint32_t(bits);
        out[2 * pair + 1][lane] = uint32_t(bits >> 32);
      }
  for (unsigned r = 0; r < 2 * pairs; ++r)
    std::memcpy(w.row(in.destination.index + r), out[r], sizeof(out[r]));
}

template <Shape S> constexpr Operation doubleOp(const char *name) {
  Operation op{name, &mfmaDouble<S>, InstructionClass::Mfma};
  op.result = ValueType::F64;
  op.dataRegisters = 2;
  op.resultRegisters = uint8_t(2 * S.resultRegisters());
  return op;
}

const Operation table[] = {
    doubleOp<Shape{16, 4, 1}>("v_mfma_f64_16x16x4_f64"),
    doubleOp<Shape{4, 4, 4}>("v_mfma_f64_4x4x4_4b_f64"),
};

} // namespace

std::span<const Operation> mfmaDoubleOperations() { return table; }

} // namespace winnow::sim
