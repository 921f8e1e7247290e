// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel arguments as `winnow sim` takes them on its command line.
#ifndef WINNOW_TOOL_SIMARGUMENTS_H
#define WINNOW_TOOL_SIMARGUMENTS_H

#include "winnow/Runtime/Result.h"
#include "winnow/Sim/Device.h"

#include <string>
#include <vector>

namespace winnow::tool {

/// One --arg: a number by value, or a buffer that is made for it.
struct SimArgument {
  /// The bytes passed: the number, or the buffer's address once it is made.
  std::vector<std::byte> value;
  bool isBuffer = false;
  /// Buffers: their bytes; with `isFresh` only their number counts.
  std::vector<std::byte> contents;
  bool isFresh = false;
  /// Where the buffer is written after the launch; empty: nowhere.
  std::string output;
  uint64_t address = 0;
};

/// "i32:5", "u32:", "i64:", "u64:", "f32:0.5", "f64:", "zeros:BYTES",
/// "fresh:BYTES" (never written), "file:PATH"; buffers may end in "=>PATH".
Result<SimArgument> parseSimArgument(const std::string &text);

/// The kernarg bytes: arguments at the offsets of the kernel's metadata, whose
/// sizes they have to have.
Result<std::vector<std::byte>>
packSimArguments(const sim::KernelInfo &kernel,
                 const std::vector<SimArgument> &arguments);

} // namespace winnow::tool

#endif // WINNOW_TOOL_SIMARGUMENTS_H
