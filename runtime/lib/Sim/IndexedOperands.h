// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// VGPR indexing: between s_set_gpr_idx_on and _off, M0 moves the vector
// registers that instructions name. Compilers use it for arrays in registers.
#ifndef WINNOW_SIM_INDEXEDOPERANDS_H
#define WINNOW_SIM_INDEXEDOPERANDS_H

#include "Wave.h"

namespace winnow::sim {

/// `in` with its registers moved as M0 says, of a kernel with that many vector
/// registers; false after stopping the wave.
bool shiftOperands(Wave &w, const Instruction &in, unsigned registers,
                   Instruction &out);

} // namespace winnow::sim

#endif // WINNOW_SIM_INDEXEDOPERANDS_H
