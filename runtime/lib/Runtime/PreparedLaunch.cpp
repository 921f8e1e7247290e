// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch path: every check of Launch.h over flat arrays. It only says yes
// or no; the words of a no come from the readable twin in Tensors.cpp and
// Launch.cpp, with which a test holds this file in step.
#include "winnow/Runtime/PreparedLaunch.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

/// The layout of a tensor whose rank and dtype are right; `covered` axes of an
/// output must not overlap. Mirrors ArgumentCheck in Tensors.cpp.
bool strides(bool contiguous, bool written, const TensorView &found) noexcept {
  const int last = found.rank - 1;
  auto used = [&](int axis) { return found.extents[axis] > 1; };
  if (contiguous) {
    int64_t expected = 1;
    for (int axis = last; axis >= 0; --axis) {
      if (used(axis) && found.strides[axis] != expected)
        return false;
      if (__builtin_mul_overflow(expected, found.extents[axis], &expected))
        return false;
    }
    return true;
  }
  if (used(last) && found.strides[last] != 1)
    return false;
  for (int axis = 0; axis < last; ++axis)
    if (used(axis) && found.strides[axis] < 0)
      return false;
  if (!written)
    return true;
  int axes[kMaxRank];
  for (int i = 0; i < found.rank; ++i) { // an insertion sort by stride
    int at = i;
    for (; at > 0 && found.strides[axes[at - 1]] > found.strides[i]; --at)
      axes[at] = axes[at - 1];
    axes[at] = i;
  }
  int64_t covered = 1;
  for (int i = 0; i < found.rank; ++i) {
    const int axis = axes[i];
    if (!used(axis))
      continue;
    int64_t reach = 0;
    if (found.strides[axis] < covered ||
        __builtin_mul_overflow(found.strides[axis], found.extents[axis] - 1,
                               &reach) ||
        __builtin_add_overflow(covered, reach, &covered))
      return false;
  }
  return true;
}

/// Whether byteSpan has a value, of a tensor that is not empty.
bool spans(const TensorView &found, int64_t width) noexcept {
  int64_t last = 0;
  for (int axis = 0; axis < found.rank; ++axis) {
    if (found.extents[axis] < 2)
      continue;
    int64_t reach = 0;
    if (found.strides[axis] < 0 ||
        __builtin_mul_overflow(found.extents[axis] - 1, found.strides[axis],
                               &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
  }
  int64_t bytes = 0;
  return !__builtin_add_overflow(last, 1, &bytes) &&
         !__builtin_mul_overflow(bytes, width, &bytes);
}

uint64_t roundUp(uint64_t bytes) noexcept {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
         kWorkspaceAlignment;
}

} // namespace

bool PreparedLaunch::evaluate(const Formula &formula, const int64_t *values,
                              int64_t &value) const noexcept {
  if (formula.kind != Formula::Kind::Operations) {
    value = formula.kind == Formula::Kind::Constant ? formula.value
                                                    : values[formula.value];
    return true;
  }
  // An expression of depth d never holds more than d + 1 operands.
  int64_t stack[kMaxExpressionDepth + 2] = {};
  int top = 0;
  for (uint32_t i = 0; i < formula.count; ++i) {
    const Operation &operation = operations[formula.first + i];
    switch (operation.kind) {
    case Expression::Kind::Constant:
      stack[top++] = operation.value;
      continue;
    case Expression::Kind::Symbol:
      stack[top++] = values[operation.value];
      continue;
    default:
      break;
    }
    const int64_t b = stack[--top];
    int64_t &a = stack[top - 1];
    if (operation.kind == Expression::Kind::Add) {
      if (__builtin_add_overflow(a, b, &a))
        return false;
    } else if (operation.kind == Expression::Kind::Mul) {
      if (__builtin_mul_overflow(a, b, &a))
        return false;
    } else {
      if (b < 1)
        return false;
      const int64_t remainder = a % b, floor = a / b - (remainder < 0 ? 1 : 0);
      a = operation.kind == Expression::Kind::FloorDiv ? floor
          : operation.kind == Expression::Kind::Mod
              ? (remainder < 0 ? remainder + b : remainder)
              : floor + (remainder != 0 ? 1 : 0);
    }
  }
  value = stack[0];
  return true;
}

bool PreparedLaunch::accepts(const Argument &wanted,
                             const TensorView &found) const noexcept {
  if (found.dtype != wanted.dtype || found.rank != wanted.rank)
    return false;
  bool empty = false;
  for (int axis = 0; axis < found.rank; ++axis) {
    if (found.extents[axis] < 0)
      return false;
    empty |= found.extents[axis] == 0;
  }
  if (empty)
    return true;
  if (wanted.hasStrides)
    for (int axis = 0; axis < found.rank; ++axis)
      if (found.extents[axis] > 1 && wanted.strides[axis] != kAnyStride &&
          found.strides[axis] != wanted.strides[axis])
        return false;
  if (!strides(wanted.isContiguous, wanted.isWritten, found) ||
      !spans(found, wanted.width))
    return false;
  // Alignments are powers of two.
  if (found.address == 0 || (found.address & (wanted.alignment - 1)) != 0)
    return false;
  if (wanted.isVector)
    for (int axis = 0; axis < found.rank - 1; ++axis)
      if (found.extents[axis] > 1 &&
          (static_cast<uint64_t>(found.strides[axis] * wanted.width) &
           (wanted.alignment - 1)) != 0)
        return false;
  return true;
}

bool PreparedLaunch::placeWorkspace(PackBuffer &buffer) const noexcept {
  uint64_t offset = 0;
  for (size_t i = 0; i < workspace.size(); ++i) {
    const Workspace &wanted = workspace[i];
    PackBuffer::Workspace &tensor = buffer.workspace[i];
    bool empty = false;
    for (int axis = 0; axis < wanted.rank; ++axis) {
      if (!evaluate(wanted.extents[axis], buffer.symbols,
                    tensor.extents[axis]) ||
          tensor.extents[axis] < 0)
        return false;
      empty |= tensor.extents[axis] == 0;
    }
    int64_t step = 1;
    for (int axis = wanted.rank - 1; axis >= 0; --axis) {
      tensor.strides[axis] = step;
      if (__builtin_mul_overflow(step, tensor.extents[axis], &step)) {
        if (!empty)
          return false;
        step = 0;
      }
    }
    int64_t bytes = 0;
    if (__builtin_mul_overflow(step, wanted.width, &bytes))
      return false;
    tensor.offset = offset;
    // No machine has so much; below it the sum cannot wrap.
    if (empty)
      bytes = 0;
    if (static_cast<uint64_t>(bytes) > (uint64_t(1) << 56))
      return false;
    offset = roundUp(offset + static_cast<uint64_t>(bytes));
  }
  buffer.workspaceBytes = offset;
  return true;
}

bool PreparedLaunch::bind(std::span<const TensorView> found,
                          PackBuffer &buffer) const noexcept {
  if (found.size() != arguments.size())
    return false;
  for (size_t i = 0; i < found.size(); ++i)
    if (!accepts(arguments[i], found[i]))
      return false;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Symbol &symbol = symbols[i];
    if (symbol.argument >= 0)
      buffer.symbols[i] = found[symbol.argument].extents[symbol.axis];
    else if (!evaluate(symbol.value, buffer.symbols, buffer.symbols[i]))
      return false;
  }
  if (requests >= 0 && buffer.symbols[requests] > source->maxRequests)
    return false;
  if (rows >= 0 && source->maxRows != 0 &&
      buffer.symbols[rows] > source->maxRows)
    return false;
  for (size_t i = 0; i < found.size(); ++i)
    for (int axis = 0; axis < arguments[i].rank; ++axis) {
      const Axis &extent = arguments[i].axes[axis];
      int64_t value = 0;
      if (extent.kind == Extent::Kind::Any)
        continue;
      if (!evaluate(extent.value, buffer.symbols, value))
        return false;
      if (extent.kind == Extent::Kind::Exactly ? found[i].extents[axis] != value
                                               : found[i].extents[axis] < value)
        return false;
    }
  for (const Step &step : steps) {
    const TensorView &from = found[step.from], &to = found[step.to];
    if (step.isInsertion && from.extents[0] != to.extents[0])
      return false;
    for (int axis = 0; axis < step.axes; ++axis)
      if (to.extents[axis] < from.extents[axis])
        return false;
  }
  return placeWorkspace(buffer);
}

bool PreparedLaunch::pack(std::span<const TensorView> found, uint64_t memory,
                          PackBuffer &buffer) const noexcept {
  if (buffer.workspaceBytes != 0 &&
      (memory == 0 || memory % kWorkspaceAlignment != 0))
    return false;
  buffer.launchCount = 0;
  for (uint32_t i = 0; i < launches.size(); ++i) {
    const Launch &launch = launches[i];
    PackedLaunch &packed = buffer.launches[buffer.launchCount];
    bool nothing = false;
    for (int axis = 0; axis < 3; ++axis) {
      int64_t workgroups = 0;
      if (!evaluate(launch.grid[axis], buffer.symbols, workgroups) ||
          workgroups < 0 || workgroups > launch.mostWorkgroups[axis])
        return false;
      nothing |= workgroups == 0;
      packed.grid[axis] = static_cast<uint32_t>(workgroups);
    }
    if (nothing)
      continue;
    packed.index = i;
    packed.kernarg = buffer.kernarg + launch.firstKernarg;
    packed.kernargBytes = launch.kernargCount * 8;
    uint64_t *to = buffer.kernarg + launch.firstKernarg;
    for (uint32_t k = 0; k < launch.kernargCount; ++k) {
      const Kernarg &source = kernargs[launch.firstKernarg + k];
      if (source.isWorkspace) {
        const PackBuffer::Workspace &tensor = buffer.workspace[source.tensor];
        to[k] = source.kind == KernelArgument::Kind::Tensor
                    ? memory + tensor.offset
                : source.kind == KernelArgument::Kind::Stride
                    ? static_cast<uint64_t>(tensor.strides[source.axis])
                    : static_cast<uint64_t>(tensor.extents[source.axis]);
      } else {
        const TensorView &tensor = found[source.tensor];
        to[k] = source.kind == KernelArgument::Kind::Tensor ? tensor.address
                : source.kind == KernelArgument::Kind::Stride
                    ? static_cast<uint64_t>(tensor.strides[source.axis])
                    : static_cast<uint64_t>(tensor.extents[source.axis]);
      }
    }
    ++buffer.launchCount;
  }
  return true;
}
