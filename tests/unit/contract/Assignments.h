// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts made from a contract's own data: an assignment that meets every limit,
// and assignments that break a chosen one. Tests walk the data with these
// instead of a list by hand, so a new limit is tested the day it is added.
#ifndef WINNOW_TESTS_UNIT_CONTRACT_ASSIGNMENTS_H
#define WINNOW_TESTS_UNIT_CONTRACT_ASSIGNMENTS_H

#include "winnow/Contract/Contract.h"

#include <vector>

namespace winnow::contract::test {

/// Facts that meet every limit of the contract and for which `limit` applies
/// (its `when` holds). Derived facts are left to their sources, so constants
/// made from the facts agree with each other.
Facts meeting(const Contract &contract, const Limit &limit);

/// Small changes to `meeting` that each break `limit`, on every side that it
/// can be broken from. Other limits may break along with it.
std::vector<Facts> breaking(const Contract &contract, const Limit &limit);

/// Small changes to `meeting` that put `limit` on each of its edges: both ends
/// of a range, every choice. Met, though other limits may break.
std::vector<Facts> onEdge(const Contract &contract, const Limit &limit);

/// A non-derived fact or the sources of a derived one so that it takes `value`.
void assign(const Contract &contract, Facts &facts, const std::string &name,
            const Value &value);

} // namespace winnow::contract::test

#endif // WINNOW_TESTS_UNIT_CONTRACT_ASSIGNMENTS_H
