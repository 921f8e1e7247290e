// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the names of instructions in machine code become those of the tables.
#ifndef WINNOW_SIM_INSTRUCTIONSET_H
#define WINNOW_SIM_INSTRUCTIONSET_H

#include <string_view>

namespace winnow::sim {

/// "v_add_f32" of "v_add_f32_e32"; operands tell the encodings apart.
std::string_view withoutEncoding(std::string_view name);

} // namespace winnow::sim

#endif // WINNOW_SIM_INSTRUCTIONSET_H
