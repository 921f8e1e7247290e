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
};

/// The best first.
llvm::ArrayRef<Lowering> lowerings();

/// "mfma, generic".
std::string loweringNames();

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
/// lowering's contract asks of those that it got.
contract::Contract loweringContract(mlir::func::FuncOp entry);

/// The architectures that the source of a scheduled entry compiles for.
std::vector<std::string> archsOf(mlir::func::FuncOp entry);

} // namespace winnow

#endif // WINNOW_CODEGEN_LOWERINGS_H
