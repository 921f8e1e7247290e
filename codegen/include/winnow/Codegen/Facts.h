// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a description says, as the facts that contracts limit, and where it says
// each of them.
#ifndef WINNOW_CODEGEN_FACTS_H
#define WINNOW_CODEGEN_FACTS_H

#include "winnow/Contract/Facts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace winnow {

/// The facts of one indexer of an entry: rows, scores, selection, and the page
/// table made of it.
struct LocatedFacts {
  /// Complete: what follows from other facts is in here too.
  contract::Facts facts;

  /// Where the description fixes a fact: the argument for what stands in its
  /// type, the operation for an option, the entry for its attributes and for
  /// whatever is not in `places`.
  mlir::Location placeOf(llvm::StringRef fact) const;

  /// The operations of the indexer, rows excepted.
  llvm::SmallVector<mlir::Operation *> operations;
  llvm::StringMap<mlir::Location> places;
  mlir::Location entry;
};

/// The platform whose compiler takes an architecture of this name ("rocm" for
/// "gfx950"); none for a name of no known kind.
std::optional<std::string> platformOf(llvm::StringRef arch);

/// The facts of each indexer of `entry`, which has not been scheduled yet:
/// one for each remap_pages, topk or merge_candidates without one, or
/// block_score without a topk,
/// in the order of the operations; one of the entry's attributes alone if
/// there is none of these. `arch` is what the kernels are for ("gfx950");
/// empty leaves the facts of the target out. Facts that only a call knows (an
/// extent that is `?`) are left out.
llvm::SmallVector<LocatedFacts> collectFacts(mlir::func::FuncOp entry,
                                             llvm::StringRef arch);

} // namespace winnow

#endif // WINNOW_CODEGEN_FACTS_H
