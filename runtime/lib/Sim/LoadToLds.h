// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Global, scratch and buffer loads whose data goes to LDS without passing
// through registers.
#ifndef WINNOW_SIM_LOADTOLDS_H
#define WINNOW_SIM_LOADTOLDS_H

#include "MemoryAccess.h"

namespace winnow::sim {

/// Reads each lane's `size` bytes (a byte or short is extended to a dword) and
/// puts them at M0 plus the instruction's offset plus the lane's place.
void loadToLds(Wave &w, const Instruction &in, unsigned size, bool isSigned,
               bool isScratch);

template <unsigned Size, bool IsSigned, bool IsScratch>
void loadToLds(Wave &w, const Instruction &in) {
  loadToLds(w, in, Size, IsSigned, IsScratch);
}

} // namespace winnow::sim

#endif // WINNOW_SIM_LOADTOLDS_H
