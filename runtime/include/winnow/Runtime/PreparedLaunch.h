// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An entry compiled into flat arrays, so that a launch can be checked and
// packed in a few hundred nanoseconds: no string, no map, no allocation, no
// lock. Launch.h holds the same rules written for reading; it is asked for the
// words when a call is refused.
#ifndef WINNOW_RUNTIME_PREPAREDLAUNCH_H
#define WINNOW_RUNTIME_PREPAREDLAUNCH_H

#include "winnow/Runtime/Launch.h"

#include <memory>
#include <span>
#include <vector>

namespace winnow::runtime {

/// Where the parts of the workspace start: multiples of this, so that a row of
/// scores never shares a cache line with another tensor.
inline constexpr uint64_t kWorkspaceAlignment = 256;

/// One launch of a call, ready for a driver.
struct PackedLaunch {
  uint32_t index;   ///< of Entry::launches
  uint32_t grid[3]; ///< workgroups
  const uint64_t *kernarg;
  uint32_t kernargBytes;
};

/// What a call is packed into; lives on the caller's stack. Nothing in it is
/// initialised: `bind` and `pack` write what they tell of.
struct PackBuffer {
  static constexpr size_t kTensors = 64;  ///< arguments, and as many workspace
  static constexpr size_t kSymbols = 64;  ///
  static constexpr size_t kLaunches = 32; ///
  static constexpr size_t kKernargs = 1024;

  struct Workspace {
    uint64_t offset;
    int64_t extents[kMaxRank], strides[kMaxRank];
  };

  int64_t symbols[kSymbols];
  Workspace workspace[kTensors];
  PackedLaunch launches[kLaunches];
  uint64_t kernarg[kKernargs];
  uint64_t workspaceBytes; ///< that this call needs; set by bind
  uint32_t launchCount;    ///< set by pack
};

/// The most that the symbols of a call can be.
struct CallBounds {
  int64_t maxRequests = 0, maxRows = 0;
};

/// Thread-safe: nothing changes after it is made.
class PreparedLaunch {
public:
  /// `entry` is one that `validate` accepted. An error is an entry with more
  /// parts than a PackBuffer holds.
  static Result<PreparedLaunch> make(const Entry &entry);

  /// Whether `bindArguments` accepts these arguments; then the buffer has
  /// symbols and workspace of the call.
  bool bind(std::span<const TensorView> arguments,
            PackBuffer &buffer) const noexcept;

  /// Whether `resolveLaunches` accepts the call that `bind` accepted, with the
  /// workspace's parts laid end to end from `workspace`; then the buffer has
  /// its launches.
  bool pack(std::span<const TensorView> arguments, uint64_t workspace,
            PackBuffer &buffer) const noexcept;

  /// Why `bind` or `pack` said no, in the words of Launch.h.
  Error whyNot(std::span<const TensorView> arguments, uint64_t workspace) const;

  /// The workspace bytes of the largest call within `bounds`: what a caller
  /// that never wants to allocate again keeps. An error is a formula that does
  /// not fit 64 bits.
  Result<uint64_t> workspaceBytes(const CallBounds &bounds) const;

  const Entry &entry() const { return *source; }
  /// Index of the symbol, or -1.
  int symbol(std::string_view name) const;

private:
  /// A formula: a constant, a symbol, or operations [first, first + count) of
  /// `operations` in the order of a stack machine.
  struct Formula {
    enum class Kind : uint8_t { Constant, Symbol, Operations };
    Kind kind = Kind::Constant;
    int64_t value = 0; // the constant or the symbol's index
    uint32_t first = 0, count = 0;
  };
  struct Operation {
    Expression::Kind kind;
    int64_t value; // of Constant and Symbol
  };
  struct Axis {
    Extent::Kind kind = Extent::Kind::Any;
    Formula value;
  };
  struct Argument {
    DType dtype;
    int rank;
    bool isContiguous, isWritten, isVector;
    bool hasStrides; // some of them are fixed
    int64_t strides[kMaxRank];
    int64_t width;
    uint64_t alignment;
    Axis axes[kMaxRank];
  };
  struct Symbol {
    int argument = -1, axis = 0; // where argument is not -1
    Formula value;
  };
  struct Step {
    bool isInsertion;
    int from, to; // arguments
    int axes;
  };
  struct Workspace {
    int rank;
    int64_t width;
    Formula extents[kMaxRank];
  };
  struct Kernarg {
    KernelArgument::Kind kind;
    bool isWorkspace;
    uint16_t tensor;
    uint16_t axis;
  };
  struct Launch {
    Formula grid[3];
    int64_t mostWorkgroups[3];
    uint32_t firstKernarg, kernargCount;
  };

  Formula compile(const Expression &expression);
  void append(const Expression &expression);
  bool evaluate(const Formula &formula, const int64_t *symbols,
                int64_t &value) const noexcept;
  bool accepts(const Argument &wanted, const TensorView &found) const noexcept;
  bool placeWorkspace(PackBuffer &buffer) const noexcept;

  std::shared_ptr<const Entry> source;
  std::vector<Operation> operations;
  std::vector<Argument> arguments;
  std::vector<Symbol> symbols;
  std::vector<Step> steps;
  std::vector<Workspace> workspace;
  std::vector<Kernarg> kernargs;
  std::vector<Launch> launches;
  int requests = -1, rows = -1; // symbols with a bound
};

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_PREPAREDLAUNCH_H
