// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What else a contract is written as: static assertions for generated kernels,
// and tables for the documentation.
#ifndef WINNOW_CONTRACT_RENDER_H
#define WINNOW_CONTRACT_RENDER_H

#include "winnow/Contract/Contract.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::contract {

/// The device structs that facts.json names, in its order: "Score", "Select".
const std::vector<std::string> &deviceStructs();

/// The limit as a C++ condition over the constants of one device struct
/// ("Score::kHeads * Score::kQueryLen <= 16"), or nothing if the struct does
/// not carry every fact of it, or the limit is not one over integers, or the
/// data says that it is not asserted.
std::optional<std::string> condition(const Limit &limit,
                                     std::string_view deviceStruct);

/// One `static_assert(condition, "text");` for each limit that `structs` can
/// state, in the table's order, as indented lines without a line end; the
/// condition stands on the first and asks the limit of each struct that carries
/// its facts, the text follows as literals of a line each. Limits whose `when`
/// does not hold and limits that lack a fact are left out. The text of a broken
/// limit is its Violation::message; of one that is met, its requirement (no
/// found value: the constants may be edited later).
std::vector<std::string>
staticAssertions(const Contract &contract, const Facts &facts,
                 const std::vector<std::string> &structs = deviceStructs());

/// The contract's limits as a Markdown table.
std::string markdownTable(const Contract &contract);

/// The whole of docs/reference/contracts.md.
std::string referencePage();

} // namespace winnow::contract

#endif // WINNOW_CONTRACT_RENDER_H
