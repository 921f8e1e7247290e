// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instructions the simulated device knows.
#ifndef WINNOW_SIM_INSTRUCTIONS_H
#define WINNOW_SIM_INSTRUCTIONS_H

#include <string>

namespace winnow::sim {

/// docs/simulator-instructions.md: every instruction by unit, from the tables
/// that execution uses.
std::string instructionTable();

} // namespace winnow::sim

#endif // WINNOW_SIM_INSTRUCTIONS_H
