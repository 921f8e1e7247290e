// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What there is to tune in a description: its kernels, what the model chose for
// them, and what is worth trying. Free of MLIR.
#ifndef WINNOW_CODEGEN_TUNING_H
#define WINNOW_CODEGEN_TUNING_H

#include "winnow/Codegen/Compile.h"
#include "winnow/Codegen/ScheduleCost.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow {

/// A kernel whose schedule may be chosen.
struct TunableKernel {
  KernelProblem problem;
  /// Parameter values: what the model chose, with what is fixed in it.
  KernelSchedule chosen;
  /// What the description or an option fixes: it stays as it is.
  std::map<std::string, int64_t> fixed;

  FixedParameter fixedParameters() const;
};

struct TunableEntry {
  std::string name;
  int64_t launches = 2;
  bool launchesFixed = false;
  std::vector<TunableKernel>
      kernels; ///< scoring, if there is one, then selection
};

/// The indexers of a description for `options.arch`, each with the schedule
/// that it would get. Entries that run operations of a step alone have nothing
/// to tune and are left out. The error is every diagnostic.
Result<std::vector<TunableEntry>> describeTuning(std::string_view text,
                                                 std::string_view name,
                                                 const CompileOptions &options);

/// "score.chunks=64,score.waves=8": a kernel's schedule as an option has it.
std::string scheduleText(const KernelProblem &problem,
                         const KernelSchedule &schedule);

} // namespace winnow

#endif // WINNOW_CODEGEN_TUNING_H
