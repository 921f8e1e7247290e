// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instructions the simulated device knows.
#ifndef WINNOW_SIM_INSTRUCTIONS_H
#define WINNOW_SIM_INSTRUCTIONS_H

#include <set>
#include <string>

namespace winnow::sim {

/// docs/simulator-instructions.md: every instruction by unit, from the tables
/// that execution uses, and those that are not simulated.
std::string instructionTable();

/// Every mnemonic that LLVM decodes for gfx950, encoding suffixes left out;
/// empty when LLVM has no AMDGPU target.
std::set<std::string> instructionSet();

/// Every mnemonic that is simulated.
std::set<std::string> simulatedInstructions();

} // namespace winnow::sim

#endif // WINNOW_SIM_INSTRUCTIONS_H
