// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a shape to results: compile, run on the simulated device, compare.
#ifndef WINNOW_TESTS_DEVICE_RUNDESCRIPTION_H
#define WINNOW_TESTS_DEVICE_RUNDESCRIPTION_H

#include "Inputs.h"
#include "Kernels.h"
#include "Verify.h"

#include "gtest/gtest.h"

#include <functional>
#include <memory>
#include <vector>

namespace winnow::test {

/// Compiles a shape to machine code; null, with a test failure, if anything
/// refuses it. The same shape is compiled once in a process.
std::shared_ptr<const Kernels> compile(const Shape &shape);

/// Changes the inputs of a call before it runs.
using Prepare = std::function<void(tool::Call &)>;

/// Runs both kernels on random inputs of these lengths and holds scores,
/// selection, page table and everything around them against the reference.
/// Every difference is a test failure that names the shape and the seed.
/// `shuffle` as in sim::LaunchOptions.
void expectRight(const Shape &shape, const tool::Lengths &lengths,
                 uint64_t seed = 1, const Prepare &prepare = {},
                 uint64_t shuffle = 0);

/// Runs calls of as many requests and rows, and expects as many launches as the
/// shape asks for, by default two, whose grids are the same whatever the
/// lengths.
void expectSameGeometry(const Shape &shape,
                        const std::vector<tool::Lengths> &calls);

} // namespace winnow::test

#endif // WINNOW_TESTS_DEVICE_RUNDESCRIPTION_H
