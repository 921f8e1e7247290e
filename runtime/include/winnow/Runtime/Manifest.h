// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a bundle says about its kernels, as types: the arguments that a caller
// hands over, the workspace, the launches and how each is packed. Written by
// the compiler, read by the runtime; Bundle.h holds the file format.
#ifndef WINNOW_RUNTIME_MANIFEST_H
#define WINNOW_RUNTIME_MANIFEST_H

#include "winnow/Runtime/Expression.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace winnow::runtime {

/// More axes than any argument of an indexer has.
inline constexpr int kMaxRank = 4;

/// Element types, spelled in manifests as MLIR does ("f8E4M3FN", "i32").
enum class DType { F8E4M3FN, F8E5M2, BF16, F16, F32, I32 };

std::string_view dtypeName(DType dtype);
std::optional<DType> parseDType(std::string_view name);
/// Bytes of one element.
int64_t byteWidth(DType dtype);

enum class Access { Read, Write, ReadWrite };

/// What an argument means to the operations, so that tools can make inputs and
/// run the reference. No two arguments of an entry share one.
enum class Role {
  SeqLens,         ///< [R] tokens
  CuSeqlens,       ///< [R + 1] row offsets of ragged rows
  Query,           ///< [N, H, D]
  Keys,            ///< [pages, B, D]
  IndexTable,      ///< [>= R, >= max_blocks]
  AttnTable,       ///< [>= R, >= max_blocks]
  Selection,       ///< [H, N, K], or [N, H, K] when token-major
  Pages,           ///< [N*G, K*P]
  Contexts,        ///< [N*G]
  CandidateIds,    ///< [H, N, K], what a rank selected
  CandidateScores, ///< [H, N, K], their scores
  RankIds,         ///< [W, H, N, K], what all ranks selected
  RankScores,      ///< [W, H, N, K], their scores
  Step,            ///< named by steps alone; several arguments may be
};

/// "seq_lens", "cu_seqlens", "query", "keys", "index_table", "attn_table",
/// "selection", "pages", "ctx", "candidate_ids", "candidate_scores",
/// "rank_ids", "rank_scores", "step".
std::string_view roleName(Role role);

/// How an argument may lie in memory.
enum class Layout {
  Contiguous, ///< dense, row-major
  Rows, ///< the last axis has stride 1, the others what TensorArgument::strides
        ///< says
};

/// A stride that a description leaves open.
inline constexpr int64_t kAnyStride = -1;

/// What an axis of an argument has to measure.
struct Extent {
  enum class Kind { Any, Exactly, AtLeast };
  Kind kind = Kind::Any;
  Expression value; ///< of Exactly and AtLeast

  static Extent any() { return {}; }
  static Extent exactly(Expression value) {
    return {Kind::Exactly, std::move(value)};
  }
  static Extent atLeast(Expression value) {
    return {Kind::AtLeast, std::move(value)};
  }
  bool operator==(const Extent &) const = default;
  /// "any", "16", "at least requests".
  std::string text() const;
};

struct TensorArgument {
  std::string name;
  DType dtype = DType::F32;
  Access access = Access::Read;
  Role role = Role::Query;
  std::vector<Extent> shape;
  Layout layout = Layout::Contiguous;
  /// Bytes of which its address and, for queries and keys, its strides have to
  /// be multiples: a power of two up to 4096. 0, left out of the JSON: 16 for
  /// queries and keys, which most kernels load 16 bytes a lane, the element's
  /// width for the others.
  int64_t alignment = 0;
  /// Of Layout::Rows: the step of each axis in elements as the description
  /// fixes it, or kAnyStride. Empty, left out of the JSON: any.
  std::vector<int64_t> strides = {};
  bool operator==(const TensorArgument &) const = default;

  /// The alignment with 0 resolved.
  int64_t addressAlignment() const {
    if (alignment != 0)
      return alignment;
    return role == Role::Query || role == Role::Keys ? 16 : byteWidth(dtype);
  }
};

/// Memory that the caller lends for the length of a call; dense.
struct WorkspaceTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<Expression> shape;
  bool operator==(const WorkspaceTensor &) const = default;
};

/// One axis of an argument.
struct ArgumentAxis {
  std::string argument;
  int64_t axis = 0;
  bool operator==(const ArgumentAxis &) const = default;
};

/// Where a symbol's value comes from: an axis of an argument, or a formula over
/// symbols that stand before it.
struct SymbolDefinition {
  std::string name;
  std::variant<ArgumentAxis, Expression> source;
  bool operator==(const SymbolDefinition &) const = default;
};

/// One argument of a kernel, 8 bytes: a tensor's address, one of its strides in
/// elements, or one of its extents.
struct KernelArgument {
  enum class Kind { Tensor, Stride, Extent };
  Kind kind = Kind::Tensor;
  std::string tensor; ///< an argument or a workspace tensor
  int64_t axis = 0;   ///< of Stride and Extent
  bool operator==(const KernelArgument &) const = default;
};

struct Launch {
  std::string kernel;
  uint32_t source = 0;            ///< index of Bundle::sources
  std::array<Expression, 3> grid; ///< in workgroups
  std::array<int64_t, 3> block = {1, 1, 1};
  int64_t dynamicLdsBytes = 0;
  std::vector<KernelArgument> arguments;
  bool operator==(const Launch &) const = default;
};

/// What was chosen for one kernel (waves, chunks, ...), for people and tools:
/// nothing of a launch depends on it.
struct Schedule {
  std::string kernel;
  std::map<std::string, int64_t> parameters;
  /// Where those come from that the compiler's model did not choose:
  /// "description", "option", "tuned on sim:gfx950 at 2026-01-31".
  std::map<std::string, std::string> from;
  bool operator==(const Schedule &) const = default;
};

/// An operation that runs once a step, before the indexer, by a launch of its
/// own: "rebase_table" or "rebase_slots" of an input and an output (perhaps the
/// same argument), "insert_keys" of keys, slots and a cache. With these, tools
/// can run the reference.
struct Step {
  std::string operation;
  std::vector<std::string> operands; ///< arguments
  int64_t sides = 1, blockSize = 1;  ///< where the operation has them
  bool operator==(const Step &) const = default;
};

/// Facts by name; the same type as contract::Facts.
using Facts = std::map<std::string, std::variant<int64_t, bool, std::string>,
                       std::less<>>;

/// One description, lowered.
struct Entry {
  std::string name;
  Facts facts;
  /// The contract that the description names, as JSON text; empty for none.
  std::string contract;
  /// How it was lowered ("mfma"), and that lowering's own contract as JSON
  /// text; empty for none.
  std::string lowering, loweringContract;
  int64_t maxSeqLen = 0;   ///< tokens
  int64_t maxRequests = 0; ///< requests a call may have
  /// Of ragged rows: new tokens of a request and of a call; 0 for uniform rows.
  int64_t maxQueryLen = 0, maxRows = 0;
  std::vector<SymbolDefinition> symbols;
  std::vector<TensorArgument> arguments;
  std::vector<WorkspaceTensor> workspace;
  std::vector<Launch> launches;
  std::vector<Step> steps; ///< in the order of their launches
  /// Of kernels that have a choice; none in bundles of older compilers.
  std::vector<Schedule> schedules;
  bool operator==(const Entry &) const = default;

  /// The argument of that name, or null.
  const TensorArgument *argument(std::string_view name) const;
  /// Index of the argument with that role, or -1.
  int indexOf(Role role) const;
  /// A fact, or null where it is absent or of another kind.
  const int64_t *integer(std::string_view fact) const;
  const std::string *string(std::string_view fact) const;
  const bool *boolean(std::string_view fact) const;
};

/// HIP source of one or more kernels.
struct Source {
  std::string name;               ///< a file name: "m3_decode.hip"
  std::string lowering;           ///< "mfma"
  std::vector<std::string> archs; ///< what it compiles for: "gfx950"
  std::string text;
  bool operator==(const Source &) const = default;
};

/// A source compiled beforehand.
struct CodeObject {
  uint32_t source = 0; ///< index of Bundle::sources
  std::string arch;
  std::vector<std::byte> bytes;
  bool operator==(const CodeObject &) const = default;
};

struct Bundle {
  std::string generator; ///< "winnow 0.1.0"
  std::vector<Entry> entries;
  std::vector<Source> sources;
  std::vector<CodeObject> codeObjects;
  bool operator==(const Bundle &) const = default;

  /// The entry of that name, or the only one for an empty name; its first
  /// variant where it has several. An error lists the names that exist.
  Result<const Entry *> find(std::string_view name) const;
  /// All entries of that name: the same call lowered in several ways, better
  /// ones first. Their arguments have the same names, types, ranks and accesses
  /// in the same order; what is asked of layouts and alignments may differ.
  std::vector<const Entry *> variants(std::string_view name) const;
  /// Their lowerings, each once, for people: "mfma, generic".
  std::string loweringNames(std::string_view name) const;
};

/// Whether everything that a bundle says agrees: names, references, ranges,
/// symbols defined before use. Reading and writing both ask. An error gives the
/// place ("entries[0].launches[1].grid[0]"), what was found and what was
/// wanted.
Status validate(const Bundle &bundle);

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_MANIFEST_H
