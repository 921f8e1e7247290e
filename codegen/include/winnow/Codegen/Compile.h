// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler as one call: a description's text in, a bundle out. Free of
// MLIR and LLVM headers, so that tools need none.
#ifndef WINNOW_CODEGEN_COMPILE_H
#define WINNOW_CODEGEN_COMPILE_H

#include "winnow/Runtime/Manifest.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow {

struct CompileOptions {
  /// What the kernels are for.
  std::string arch = "gfx950";
  /// A lowering to try before the others ("generic"); empty: the best first.
  std::string prefer;
  /// Parameters of schedules to fix, going before those of the description:
  /// "score.waves=8,chunks=4"; and what the bundle says of where they come
  /// from.
  std::string schedule{};
  std::string scheduleFrom = "option";
  /// Leaves out what the description itself fixes: a schedule is written for
  /// one lowering, and this may be another.
  bool ignoreOwnSchedule = false;
};

/// Compiles every entry of a description to HIP: verify the contract, select a
/// lowering, schedule, emit. The bundle has one source for each entry and no
/// code objects yet. `name` stands in diagnostics. The error is every
/// diagnostic, with file, line and the source line. May be called from several
/// threads at once; never touches a file.
Result<runtime::Bundle> compileDescription(std::string_view text,
                                           std::string_view name,
                                           const CompileOptions &options = {});

/// The description for each of several processors ("gfx950", "gfx942") in one
/// bundle, all of which have to take it: what differs becomes a variant of the
/// entry, with a source of its own. Unless a lowering is preferred, in portable
/// HIP too, behind the better ones, for devices and bounds that refuse those.
/// `options.arch` means nothing.
Result<runtime::Bundle> compileVariants(std::string_view text,
                                        std::string_view name,
                                        const std::vector<std::string> &archs,
                                        CompileOptions options = {});

/// What the reference needs to run a description, which may be one that no
/// lowering takes: entries without workspace and launches, whose lowering is
/// called "reference", and no source. The named contract is verified for
/// `options.arch`. Never written to a file: such a bundle has nothing to
/// launch.
Result<runtime::Bundle> describeDescription(std::string_view text,
                                            std::string_view name,
                                            const CompileOptions &options = {});

} // namespace winnow

#endif // WINNOW_CODEGEN_COMPILE_H
