// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The path that fp8 and bf8 matrix products take unless they hold a NaN or an
// infinity: operands decoded sixteen lanes at a time, rows of zeros left out.
// The result is the general path's, bit for bit.
#ifndef WINNOW_SIM_MFMAEIGHTBIT_H
#define WINNOW_SIM_MFMAEIGHTBIT_H

#include "Wave.h"

namespace winnow::sim {

/// One product of an M x K by a K x M matrix, M 16 or 32, one block.
struct EightBitProduct {
  /// Register rows of 64 lanes, following each other.
  const uint32_t *a = nullptr;
  const uint32_t *b = nullptr;
  /// The accumulator's rows, or null when every element is `constant`.
  const uint32_t *c = nullptr;
  uint32_t constant = 0;
  bool isBf8A = false;
  bool isBf8B = false;
  uint32_t *d = nullptr;
};

/// False, with nothing written, when an operand is not finite. `TwoRuns` as the
/// f8f6f4 instructions spread K over a lane.
template <unsigned M, unsigned K, bool TwoRuns>
bool multiplyEightBit(const EightBitProduct &product);

extern template bool multiplyEightBit<16, 128, true>(const EightBitProduct &);
extern template bool multiplyEightBit<32, 64, true>(const EightBitProduct &);
extern template bool multiplyEightBit<16, 32, false>(const EightBitProduct &);
extern template bool multiplyEightBit<32, 16, false>(const EightBitProduct &);

} // namespace winnow::sim

#endif // WINNOW_SIM_MFMAEIGHTBIT_H
