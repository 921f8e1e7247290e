// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounding to the 8, 6 and 4-bit floats of CDNA4, to nearest even or by a
// random number (CDNA4 ISA, "BF8 / FP8 and Smaller Formats and Conversions").
#ifndef WINNOW_SIM_SMALLFLOATS_H
#define WINNOW_SIM_SMALLFLOATS_H

#include "CheckedLanes.h"
#include "FloatFormats.h"

namespace winnow::sim {

/// What a narrowing conversion is told beside its value.
struct Narrowing {
  /// Random number of a stochastic conversion.
  bool isStochastic = false;
  uint32_t seed = 0;
  /// FP16_OVFL of MODE: 8-bit results saturate.
  bool saturates = false;
};

/// Code of a format (a SmallFormat) for a value with at most 24 significant
/// bits. Formats without NaN have no answer for one; stochastic rounding has
/// none below the smallest normal number, where nothing says which bits of the
/// random number count.
Checked<uint32_t> toSmallFloat(double value, unsigned format,
                               const Narrowing &how);

/// The same to f16 and bf16, stochastically.
Checked<uint32_t> toHalfStochastic(float value, uint32_t seed);
Checked<uint32_t> toBfloatStochastic(float value, uint32_t seed);

/// The next random number (V_PRNG_B32).
inline uint32_t nextRandom(uint32_t v) {
  return v << 1 ^ (v >> 31 ? 197u : 0u);
}

} // namespace winnow::sim

#endif // WINNOW_SIM_SMALLFLOATS_H
