// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which lowering each operation of an entry gets, and why no better one: what
// winnow-select-lowering writes down and `winnow explain` prints.
#ifndef WINNOW_CODEGEN_LIB_LOWERINGDECISION_H
#define WINNOW_CODEGEN_LIB_LOWERINGDECISION_H

#include "winnow/Codegen/Facts.h"
#include "winnow/Codegen/Lowerings.h"

#include "llvm/ADT/DenseMap.h"

namespace winnow {

/// Whether an operation says which rows a batch has: those are computed within
/// the kernels that read them.
inline bool makesRows(mlir::Operation *op) {
  return op->getNumResults() == 1 &&
         mlir::isa<RowsType>(op->getResult(0).getType());
}

/// One reason for which a lowering does not get an operation.
struct Refusal {
  const Lowering *lowering;
  mlir::Operation *op;
  std::string reason;
  mlir::Location place;
};

/// Operations of one kernel, and what is decided about them: a lowering or
/// null, and why the ones tried before it were refused.
struct Decision {
  llvm::SmallVector<mlir::Operation *> operations;
  const Lowering *lowering = nullptr;
  llvm::SmallVector<Refusal> refusals;

  /// The reasons of `tried` against `op`, its own first, then those against the
  /// operations that it shares a kernel with.
  std::vector<std::string> reasons(const Lowering &tried,
                                   mlir::Operation *op) const;
};

/// What is wrong with an entry whatever the lowering.
struct Fault {
  std::string text;
  mlir::Location place;
};

/// Decides for all operations of an entry that has not been scheduled. `prefer`
/// names the lowering that is tried first; empty: the best.
class LoweringDecisions {
public:
  LoweringDecisions(mlir::func::FuncOp entry, llvm::StringRef arch,
                    llvm::StringRef prefer);

  mlir::func::FuncOp entry;
  /// The lowerings in the order in which they are tried.
  llvm::SmallVector<const Lowering *> order;
  /// In the order of the operations.
  llvm::SmallVector<Decision> decisions;
  llvm::SmallVector<Fault> faults;

  /// Whether each operation has a lowering.
  bool complete() const;
  /// The decision about an operation; about rows, that of their first reader.
  /// Null for an operation of another dialect and for rows that nothing reads.
  const Decision *about(mlir::Operation *op) const;

private:
  void group();
  void findFaults();
  void decide(Decision &decision);
  void ask(const Lowering &lowering, mlir::Operation *op, Decision &decision);

  llvm::SmallVector<LocatedFacts> facts;
  llvm::DenseMap<mlir::Operation *, size_t> decisionOf;
};

} // namespace winnow

#endif // WINNOW_CODEGEN_LIB_LOWERINGDECISION_H
