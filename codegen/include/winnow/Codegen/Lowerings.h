// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lowerings there are, and what holds for an entry that mixes them.
#ifndef WINNOW_CODEGEN_LOWERINGS_H
#define WINNOW_CODEGEN_LOWERINGS_H

#include "winnow/Contract/Contract.h"
#include "winnow/IR/Winnow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace winnow {

struct Lowering {
  llvm::StringLiteral name;
  llvm::StringLiteral contract;
  /// Whose matrix units its kernels use; empty if they use none. Such kernels
  /// are written over an architecture header, so a source is for one
  /// architecture.
  llvm::StringLiteral platform;
  /// Lanes of a wave, as the architecture headers of the lowering say, too.
  int64_t waveLanes;
  /// Bytes of keys that a wave, or a workgroup that shares them, has in flight
  /// at once unless a schedule says otherwise.
  int64_t sliceBytes;
  /// Most bytes of keys that a bulk copy brings to local memory, for scoring of
  /// uniform rows (templates/winnow/score_stream.h); 0 where there are none.
  /// Large enough to cost little each, small enough that several waves share a
  /// block.
  int64_t copyBytes;
  /// Waves that multiply shared keys together, and bytes that an element of
  /// those has at least, for scoring of ragged rows.
  int64_t teamWaves;
  int64_t sharedElementBytes;

  bool usesMatrixUnits() const { return !platform.empty(); }
};

/// The best first.
llvm::ArrayRef<Lowering> lowerings();

/// The lowering of that name, or null.
const Lowering *findLowering(llvm::StringRef name);

/// "mfma, mma, generic".
std::string loweringNames();

/// The lowering of one kernel; one written by hand may have none, and counts as
/// the first.
const Lowering &loweringOf(KernelOp kernel);

/// The struct of a kernel that scores and selects in one launch.
inline constexpr llvm::StringLiteral kJoinedShape = "Decode";
bool isJoined(KernelOp kernel);

/// What a kernel does of a description, by the struct of its constants: a Score
/// does block_score, a Select topk and a Merge merge_candidates with what is
/// made of their selection, a Decode what the first two do, any other what runs
/// once a step.
std::vector<std::string> operationsOf(KernelOp kernel);

/// The kernels that a scheduled entry launches, each once, in launch order.
llvm::SmallVector<KernelOp> kernelsOf(mlir::func::FuncOp entry);

/// The lowering of a scheduled entry: "mfma", or "mfma-generic" for an entry
/// that scores with one and selects with the other.
std::string loweringOf(mlir::func::FuncOp entry);

/// What the lowering of a scheduled entry asks of a call: what its contract
/// asks of the operations that the entry has; for a mixed one, what each
/// lowering's contract asks of those that it got. Where the kernels use matrix
/// units, the one architecture is asked for whose they are.
contract::Contract loweringContract(mlir::func::FuncOp entry);

/// The architectures that the source of a scheduled entry compiles for.
std::vector<std::string> archsOf(mlir::func::FuncOp entry);

} // namespace winnow

#endif // WINNOW_CODEGEN_LOWERINGS_H
