// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A description as machine code for the simulated gfx950.
#ifndef WINNOW_TESTS_PROPERTY_KERNELS_H
#define WINNOW_TESTS_PROPERTY_KERNELS_H

#include "Execute.h"
#include "Shape.h"

#include <memory>
#include <vector>

namespace winnow::test {

/// A compiled description. Not movable: calls point into it.
struct Kernels {
  Kernels() = default;
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;

  runtime::Bundle bundle;
  tool::Indexer indexer;
  std::vector<tool::LoadedCode> codes;
};

/// The description as HIP, with the shape's lowering preferred. The error is
/// what refuses it.
Result<runtime::Bundle> emitKernels(const Shape &shape,
                                    const std::string &arch = "gfx950");

/// Machine code of what emitKernels made. May be called from several threads.
Result<std::shared_ptr<const Kernels>> compileKernels(runtime::Bundle bundle);

/// Runs the last launch alone, the one that selects, on the scores that are in
/// the call's workspace; all tensors come back from the device.
Status selectOnSim(tool::Call &call, const Kernels &kernels,
                   const sim::Checks &checks = {});

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_KERNELS_H
