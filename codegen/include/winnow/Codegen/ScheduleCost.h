// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a kernel would take with a schedule: a few multiplications that put
// schedules in an order, not a forecast. Free of MLIR.
#ifndef WINNOW_CODEGEN_SCHEDULECOST_H
#define WINNOW_CODEGEN_SCHEDULECOST_H

#include "winnow/Codegen/Machine.h"
#include "winnow/Codegen/ScheduleModel.h"

#include <vector>

namespace winnow {

/// A call as the model sees it: requests alike.
struct Workload {
  int64_t requests = 1;
  int64_t places = 1; ///< blocks of a request, or candidates of a row
  int64_t rows = 1;   ///< rows of a request
  bool operator==(const Workload &) const = default;
};

/// Calls that a plan may meet within its bounds: one request and as many as
/// there may be, as long as they may be and short. Where nobody says what will
/// come, a schedule has to be good for all of them.
std::vector<Workload> usualWorkloads(const KernelProblem &problem);

/// Seconds of one launch. The sum of what a launch always takes, and of the
/// longest of: waves that are started one after the other and then walk their
/// share of the blocks, instructions issued by the units in use, bytes moved.
double predictSeconds(const KernelProblem &problem, const Machine &machine,
                      const KernelSchedule &schedule, const Workload &workload);

struct RankedSchedule {
  KernelSchedule schedule;
  double seconds = 0; ///< the geometric mean over workloads
};

/// Every schedule that is worth trying and that the kernel can have, the best
/// by the model first; of such as are alike the one with fewer waves. How keys
/// are asked for follows from the rest (variationsOf).
/// Parameters that are fixed have their value in all of them. Without
/// workloads: for the usual ones. Empty where what is fixed leaves none.
std::vector<RankedSchedule> rankSchedules(const KernelProblem &problem,
                                          const Machine &machine,
                                          const FixedParameter &fixed,
                                          std::vector<Workload> workloads = {});

/// The schedule with one of the parameters of memory (isOfMemory) changed that
/// are not fixed, and what follows from it: those that the kernel can have, a
/// parameter's in order of its values.
std::vector<KernelSchedule> variationsOf(const KernelProblem &problem,
                                         const KernelSchedule &schedule,
                                         const FixedParameter &fixed);

} // namespace winnow

#endif // WINNOW_CODEGEN_SCHEDULECOST_H
