// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry functions: the `winnow.*` attributes that turn a func.func into a
// description, and what such a function has to look like.
#ifndef WINNOW_IR_ENTRY_H
#define WINNOW_IR_ENTRY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace winnow {

class RemapPagesOp;

// On func.func.
inline constexpr llvm::StringLiteral kEntryAttr = "winnow.entry";
inline constexpr llvm::StringLiteral kContractAttr = "winnow.contract";
inline constexpr llvm::StringLiteral kBoundsAttr = "winnow.bounds";
inline constexpr llvm::StringLiteral kAttentionAttr = "winnow.attention";
// On operations of the dialect, set by passes.
inline constexpr llvm::StringLiteral kLoweringAttr = "winnow.lowering";
inline constexpr llvm::StringLiteral kRefusalsAttr = "winnow.refusals";
inline constexpr llvm::StringLiteral kArchAttr = "winnow.arch";
inline constexpr llvm::StringLiteral kFactsAttr = "winnow.facts";
/// On a launch: its kernel is to be joined to that of the launch before.
inline constexpr llvm::StringLiteral kJoinAttr = "winnow.join";

/// What a plan is made for: no launch exceeds these, whatever the live lengths.
struct EntryBounds {
  int64_t maxSeqLen = 0;   ///< tokens of one request, 1 to 2^31 - 1
  int64_t maxRequests = 0; ///< requests of a batch, 1 to 2^31 - 1
  /// Blocks of the attention's cache, 1 to 2^31 - 1; absent if not given.
  std::optional<int64_t> maxPages;
  /// Of ragged rows, 1 to 2^31 - 1: new tokens of one request, and of a batch.
  std::optional<int64_t> maxQueryLen, maxRows;
};

/// What the attention kernel behind this indexer reads.
struct AttentionFacts {
  int64_t kvHeads = 0;  ///< key-value heads, 1 to 65536
  int64_t pageSize = 0; ///< tokens of a page as it numbers them, 1 to 65536
  /// Pages that a block spans in its cache, all sides; absent if not given.
  std::optional<int64_t> blockPages;
};

/// Whether `name` can stand in generated source as it is: a C identifier.
/// Entries and kernels have such names.
bool isSourceName(llvm::StringRef name);

bool isEntry(mlir::func::FuncOp func);

/// The value of an attribute, or nothing if the function lacks it. On functions
/// that verify.
std::optional<EntryBounds> getEntryBounds(mlir::func::FuncOp func);
std::optional<AttentionFacts> getAttention(mlir::func::FuncOp func);
std::optional<llvm::StringRef> getContractName(mlir::func::FuncOp func);

/// The names that `winnow.contract` may hold.
llvm::ArrayRef<llvm::StringRef> getKnownContracts();
bool isKnownContract(llvm::StringRef name);

/// Whether `op` is one that runs once a step, before the indexer: rebase_table,
/// rebase_slots or insert_keys. Each is a launch of its own.
bool isStepOp(mlir::Operation *op);

/// What the entries of remap's table have been multiplied by when it reads
/// them: its table_sides, times the sides of a rebase_table of the same entry
/// that writes that very table.
int64_t getTableSides(RemapPagesOp remap);

/// Checks a function that carries `winnow.entry`: a name that generated source
/// can use, memref arguments and no results, one block of operations of this
/// dialect and a return, bounds, at least one write, every memref written at
/// most once and none both read and written but by an operation of a step and
/// those after it, static extents that hold what the bounds allow, and a block
/// that spans the pages which the attention is said to read. Part of the
/// ordinary verifier; the function's attributes and its operations have to be
/// valid each for itself.
llvm::LogicalResult verifyEntry(mlir::func::FuncOp func);

} // namespace winnow

#endif // WINNOW_IR_ENTRY_H
