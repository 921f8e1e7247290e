// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of matrix operands, decoded from registers.
#ifndef WINNOW_SIM_MFMAELEMENTS_H
#define WINNOW_SIM_MFMAELEMENTS_H

#include "FloatFormats.h"
#include "Wave.h"

#include <bit>

namespace winnow::sim {

enum class Element { Fp8, Bf8, F16, Bf16, F32, F8f6f4 };

constexpr unsigned bitsOfElement(Element e) {
  switch (e) {
  case Element::F32:
    return 32;
  case Element::F16:
  case Element::Bf16:
    return 16;
  default:
    return 8;
  }
}

/// Elements of one lane, decoded to f32.
template <Element E>
void decodeLane(const uint32_t *row, unsigned lane, unsigned count,
                unsigned format, float *out) {
  if constexpr (E == Element::F32) {
    out[0] = std::bit_cast<float>(row[lane]);
  } else if constexpr (E == Element::F16 || E == Element::Bf16) {
    for (unsigned e = 0; e < count; ++e) {
      uint16_t bits = uint16_t(row[e / 2 * kLanes + lane] >> (16 * (e & 1)));
      out[e] = E == Element::F16 ? halfToFloat(bits) : bfloatToFloat(bits);
    }
  } else {
    const float *table = smallFloatTable(format);
    unsigned bits = bitsOf(format);
    if (bits == 8) {
      for (unsigned d = 0; d < count / 4; ++d) {
        uint32_t word = row[d * kLanes + lane];
        out[4 * d] = table[word & 0xff];
        out[4 * d + 1] = table[word >> 8 & 0xff];
        out[4 * d + 2] = table[word >> 16 & 0xff];
        out[4 * d + 3] = table[word >> 24];
      }
      return;
    }
    for (unsigned e = 0; e < count; ++e) {
      unsigned at = e * bits, word = at / 32, shift = at % 32;
      uint64_t window = row[word * kLanes + lane];
      if (shift + bits > 32)
        window |= uint64_t(row[(word + 1) * kLanes + lane]) << 32;
      out[e] = table[window >> shift & ((1u << bits) - 1)];
    }
  }
}

} // namespace winnow::sim

#endif // WINNOW_SIM_MFMAELEMENTS_H
