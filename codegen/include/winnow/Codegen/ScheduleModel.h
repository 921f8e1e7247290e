// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which schedules a kernel can have, and which of them it gets. Free of MLIR.
#ifndef WINNOW_CODEGEN_SCHEDULEMODEL_H
#define WINNOW_CODEGEN_SCHEDULEMODEL_H

#include "winnow/IR/KernelSchedule.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace winnow {

struct Machine;

/// What a schedule is for: one kernel of one description, within its bounds.
struct KernelProblem {
  enum class Kind {
    Score,         ///< matrix instructions, uniform rows
    RaggedScore,   ///< matrix instructions, ragged rows
    GenericScore,  ///< portable HIP, either kind of rows
    Select,        ///< of scores, in registers
    Merge,         ///< of candidates of ranks, in registers
    GenericSelect, ///< portable HIP, of either
  };
  Kind kind = Kind::Score;
  int64_t waveLanes = 64;
  /// Bytes of keys that a wave has in flight at once, unless it is told
  /// otherwise.
  int64_t sliceBytes = 16384;
  /// Bytes of keys that a bulk copy brings ahead of a wave at most; 0 where
  /// keys come to registers.
  int64_t copyBytes = 0;
  /// Ragged rows: waves that multiply shared keys together, and bytes that an
  /// element of those has at least.
  int64_t teamWaves = 1;
  int64_t sharedElementBytes = 1;
  int64_t heads = 1;
  /// Scoring: rows of a request times heads, the most that there are.
  int64_t queries = 1;
  int64_t headDim = 128;
  int64_t elementBytes = 1;
  int64_t blockSize = 128;
  /// What a row is selected from, or a request scored: blocks of the longest
  /// sequence that this shard has, or candidates of all ranks.
  int64_t places = 1;
  /// Most requests of a call, and most rows of a request.
  int64_t requests = 1, rows = 1;

  ScheduledKernel kernel() const {
    return kind == Kind::Score || kind == Kind::RaggedScore ||
                   kind == Kind::GenericScore
               ? ScheduledKernel::Score
               : ScheduledKernel::Select;
  }
};

/// Queries of a query tile: the rows of a matrix instruction that take those of
/// ragged rows.
inline constexpr int64_t kTileQueries = 16;

/// Bytes of keys that bulk copies may bring to a workgroup. What else there is
/// of the 48 KiB of local memory that it may have without asking holds maxima
/// and a selection.
inline constexpr int64_t kMostCopiedBytes = 40960;

/// Tiles of 16 keys of a block, and the bytes of one.
int64_t blockTiles(const KernelProblem &problem);
int64_t tileBytes(const KernelProblem &problem);

/// The same in the local memory that waves share, in whose format keys of
/// ragged rows are multiplied.
int64_t sharedTileBytes(const KernelProblem &problem);

/// Scoring of uniform rows: how many waves share a block.
int64_t wavesOfBlock(const KernelProblem &problem,
                     const KernelSchedule &schedule);

/// Tiles of keys that are loaded, copied or shared together, of matrix
/// lowerings.
int64_t sliceTiles(const KernelProblem &problem,
                   const KernelSchedule &schedule);

/// The parameters that such a kernel has.
std::vector<const ScheduleParameter *>
parametersOf(const KernelProblem &problem);

/// Why such a kernel has no such parameter, or "" where its name says it.
std::string_view whyNone(const KernelProblem &problem,
                         const ScheduleParameter &parameter);

/// Whether the parameter is about how keys are asked for. The model says little
/// of those: rules choose them, and a tuner tries others one by one.
bool isOfMemory(const ScheduleParameter &parameter);

/// What somebody fixed of a kernel, or nothing.
using FixedParameter =
    std::function<std::optional<int64_t>(const ScheduleParameter &)>;

/// A schedule by rules of thumb, the same for every machine; parameters that
/// are fixed have their value, and the others are chosen with that in mind. It
/// may be one that the kernel cannot have, if what is fixed leaves no other.
KernelSchedule chooseByRule(const KernelProblem &problem,
                            const FixedParameter &fixed);

/// The schedule that a kernel gets on a machine where nobody says otherwise: of
/// uniform scoring the one that the cost model (ScheduleCost.h) has in front,
/// unless bulk copies bring its keys; of the others the one of the rules.
KernelSchedule chooseSchedule(const KernelProblem &problem,
                              const Machine &machine,
                              const FixedParameter &fixed);

/// Why a kernel cannot have a schedule whose parameters are all in range, or
/// nothing: "slots = 4 and waves = 1 hold 256 scores, needed 8192 (...)".
std::optional<std::string> findConflict(const KernelProblem &problem,
                                        const KernelSchedule &schedule);

} // namespace winnow

#endif // WINNOW_CODEGEN_SCHEDULEMODEL_H
