// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where matrix elements lie in registers, and the lanes that broadcasts read
// (CDNA4 ISA, "General input and output layout", "Broadcasting values").
#ifndef WINNOW_SIM_MFMALAYOUT_H
#define WINNOW_SIM_MFMALAYOUT_H

#include "Wave.h"

namespace winnow::sim {

struct Shape {
  unsigned m, k, blocks;
  constexpr unsigned laneParts() const { return 64 / (m * blocks); }
  constexpr unsigned perLane() const { return k / laneParts(); }
  constexpr unsigned resultRegisters() const { return m * m * blocks / 64; }
};

/// Row and block of result register r in lane l; f64 results lie otherwise.
constexpr unsigned resultRow(const Shape &s, unsigned r, unsigned lane) {
  if (s.m == 16)
    return 4 * (lane / 16) + r % 4;
  if (s.m == 32)
    return 8 * (r % 16 / 4) + 4 * (lane / 32) + r % 4;
  return r;
}
constexpr unsigned resultBlock(const Shape &s, unsigned r, unsigned lane) {
  return s.m == 4 ? lane / 4 : r / (s.m * s.m / 64);
}

/// The lanes that A and B are read from when cbsz, abid or blgp say so.
struct LaneMaps {
  uint8_t a[kLanes], b[kLanes];
};

/// False after stopping the wave: for block counts that the ISA leaves
/// undefined.
inline bool mapLanes(Wave &w, const Instruction &in, unsigned blocks,
                     LaneMaps &out) {
  const unsigned cbsz = in.cbsz, abid = in.abid;
  if (cbsz > 4 || (1u << cbsz) > blocks || abid >= 1u << cbsz) {
    w.stop(in, "cbsz " + std::to_string(cbsz) + " and abid " +
                   std::to_string(abid) + " are not defined for " +
                   std::to_string(blocks) + " blocks");
    return false;
  }
  const unsigned size = 64u >> cbsz;
  for (unsigned l = 0; l < kLanes; ++l) {
    out.a[l] = uint8_t(l % size + size * abid);
    switch (in.blgp) {
    case 0:
      out.b[l] = uint8_t(l);
      break;
    case 1:
    case 2:
      out.b[l] = uint8_t(l % 32 + 32 * (in.blgp - 1));
      break;
    case 3:
      out.b[l] = uint8_t((l + 16) % 64);
      break;
    default:
      out.b[l] = uint8_t(l % 16 + 16 * (in.blgp - 4));
    }
  }
  return true;
}

} // namespace winnow::sim

#endif // WINNOW_SIM_MFMALAYOUT_H
