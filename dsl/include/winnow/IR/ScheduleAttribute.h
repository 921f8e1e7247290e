// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules in the IR: what a description asks for (`winnow.schedule` of an
// entry) and what a kernel got (`winnow.schedule` of a winnow.kernel).
#ifndef WINNOW_IR_SCHEDULEATTRIBUTE_H
#define WINNOW_IR_SCHEDULEATTRIBUTE_H

#include "winnow/IR/KernelSchedule.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <vector>

namespace winnow {

inline constexpr llvm::StringLiteral kScheduleAttr = "winnow.schedule";
/// On a kernel: where each parameter comes from that is not the model's.
inline constexpr llvm::StringLiteral kScheduleFromAttr = "winnow.schedule_from";

/// A parameter that somebody fixed.
struct ScheduleOverride {
  const ScheduleParameter *parameter = nullptr;
  int64_t value = 0;
  /// Named for the whole entry, so meant for those kernels that have it.
  bool isShared = false;
  std::string from; ///< "description", "option", "tuned on ..."
};

/// All that is fixed of an entry's schedule; of two that fix the same
/// parameter the later one counts.
struct ScheduleRequest {
  std::vector<ScheduleOverride> overrides;
  std::optional<int64_t> launches;
  std::string launchesFrom;

  /// What is fixed of one kernel, or null. One kernel's own value goes before
  /// one for the whole entry, if both are from the same place.
  const ScheduleOverride *find(const ScheduleParameter &parameter) const;
  /// Adds what `other` fixes, which goes before what is here.
  void add(const ScheduleRequest &other);
};

/// What an entry's attribute says: one that verifies.
ScheduleRequest readSchedule(mlir::DictionaryAttr attribute,
                             llvm::StringRef from);

/// The attribute that says what a request does.
mlir::DictionaryAttr writeSchedule(mlir::MLIRContext *context,
                                   const ScheduleRequest &request);

/// A kernel's parameters, those of `parameters`.
mlir::DictionaryAttr
writeKernelSchedule(mlir::MLIRContext *context, const KernelSchedule &schedule,
                    llvm::ArrayRef<const ScheduleParameter *> parameters);

/// "score.waves=8,chunks=4,launches=1", as a command line has it. A
/// name without a kernel is meant for those kernels that have it. False with
/// `error` set: which part, what was found, what was wanted.
bool parseSchedule(llvm::StringRef text, llvm::StringRef from,
                   ScheduleRequest &request, std::string &error);

/// Verifies `winnow.schedule` on an entry: known names, values in the range
/// that some kernel takes. On a kernel: parameters by name.
llvm::LogicalResult verifySchedule(mlir::Operation *op,
                                   mlir::NamedAttribute attribute);

} // namespace winnow

#endif // WINNOW_IR_SCHEDULEATTRIBUTE_H
