// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A caller's tensors held against what the manifest asks for.
#include "winnow/Runtime/Launch.h"

#include <algorithm>
#include <numeric>

using namespace winnow;
using namespace winnow::runtime;

namespace {

std::string list(const std::array<int64_t, kMaxRank> &values, int rank) {
  std::string text = "[";
  for (int axis = 0; axis < std::min(rank, kMaxRank); ++axis)
    text += (axis ? ", " : "") + std::to_string(values[axis]);
  return text + "]";
}

/// One argument's checks that need no symbols.
class ArgumentCheck {
public:
  ArgumentCheck(const TensorArgument &wanted, const TensorView &found)
      : wanted(wanted), found(found) {}

  Status run() {
    if (found.dtype != wanted.dtype)
      return problem("dtype " + std::string(dtypeName(found.dtype)) +
                     ", wanted " + std::string(dtypeName(wanted.dtype)));
    if (found.rank != static_cast<int>(wanted.shape.size()))
      return problem(std::to_string(found.rank) + " axes, wanted " +
                     std::to_string(wanted.shape.size()));
    for (int axis = 0; axis < found.rank; ++axis)
      if (found.extents[axis] < 0)
        return problem("axis " + std::to_string(axis) + " has " +
                       std::to_string(found.extents[axis]) +
                       " entries, wanted at least 0");
    // Nothing of an empty tensor is ever addressed.
    if (found.empty())
      return {};
    if (Status status = strides(); !status)
      return status;
    if (Result<uint64_t> span = byteSpan(found); !span)
      return problem(span.message());
    return address();
  }

private:
  Error problem(const std::string &what) const {
    return Error{"argument '" + wanted.name + "': " + what};
  }

  Status strides() const {
    // The stride of an axis with one entry is never used.
    auto used = [&](int axis) { return found.extents[axis] > 1; };
    const int last = found.rank - 1;
    if (wanted.layout == Layout::Contiguous) {
      int64_t expected = 1;
      for (int axis = last; axis >= 0; --axis) {
        if (used(axis) && found.strides[axis] != expected)
          return problem("strides " + found.stridesText() +
                         ", wanted a contiguous tensor of shape " +
                         found.shapeText());
        if (__builtin_mul_overflow(expected, found.extents[axis], &expected))
          return problem("shape " + found.shapeText() +
                         " does not fit 64 bits");
      }
      return {};
    }
    if (used(last) && found.strides[last] != 1)
      return problem("strides " + found.stridesText() +
                     ", wanted the last axis contiguous (stride 1)");
    for (int axis = 0; axis < last; ++axis)
      if (used(axis) && found.strides[axis] < 0)
        return problem("strides " + found.stridesText() +
                       ", wanted none below 0");
    for (size_t axis = 0; axis < wanted.strides.size(); ++axis)
      if (used(static_cast<int>(axis)) && wanted.strides[axis] != kAnyStride &&
          found.strides[axis] != wanted.strides[axis])
        return problem("strides " + found.stridesText() + ", wanted " +
                       wantedStrides() + ", which the description fixes");
    return wanted.access == Access::Read ? Status() : separateRows();
  }

  /// "[any, 256, 1]"
  std::string wantedStrides() const {
    std::string text = "[";
    for (int64_t stride : wanted.strides)
      text += (text.size() == 1 ? "" : ", ") +
              (stride == kAnyStride ? "any" : std::to_string(stride));
    return text + "]";
  }

  /// Rows that are written must not share memory: from the smallest stride up,
  /// each axis has to step over all that the axes before it cover.
  Status separateRows() const {
    std::array<int, kMaxRank> axes;
    std::iota(axes.begin(), axes.end(), 0);
    std::sort(axes.begin(), axes.begin() + found.rank, [&](int a, int b) {
      return found.strides[a] < found.strides[b];
    });
    int64_t covered = 1;
    for (int i = 0; i < found.rank; ++i) {
      const int axis = axes[i];
      if (found.extents[axis] < 2)
        continue;
      if (found.strides[axis] < covered)
        return problem("strides " + found.stridesText() + " of shape " +
                       found.shapeText() +
                       " make entries of an output overlap");
      int64_t reach = 0;
      if (__builtin_mul_overflow(found.strides[axis], found.extents[axis] - 1,
                                 &reach) ||
          __builtin_add_overflow(covered, reach, &covered))
        return problem("shape " + found.shapeText() + " with strides " +
                       found.stridesText() + " does not fit 64 bits");
    }
    return {};
  }

  Status address() const {
    if (found.address == 0)
      return problem("a null address for shape " + found.shapeText());
    const bool vector = wanted.role == Role::Query || wanted.role == Role::Keys;
    const int64_t width = byteWidth(found.dtype);
    int64_t alignment = wanted.alignment;
    if (alignment == 0)
      alignment = vector ? 16 : width;
    if (found.address % static_cast<uint64_t>(alignment) != 0)
      return problem(
          "the address is " +
          std::to_string(found.address % static_cast<uint64_t>(alignment)) +
          " bytes past a multiple of " + std::to_string(alignment) +
          ", wanted it aligned");
    for (int axis = 0; vector && axis < found.rank - 1; ++axis)
      if (found.extents[axis] > 1 &&
          found.strides[axis] * width % alignment != 0)
        return problem("axis " + std::to_string(axis) + " has a stride of " +
                       std::to_string(found.strides[axis] * width) +
                       " bytes, wanted a multiple of " +
                       std::to_string(alignment));
    return {};
  }

  const TensorArgument &wanted;
  const TensorView &found;
};

/// " has 5 entries, wanted at least 8 (rows)".
std::string wrongExtent(int64_t found, const Extent &extent, int64_t wanted) {
  std::string text = " has " + std::to_string(found) + " entries, wanted ";
  if (extent.kind == Extent::Kind::AtLeast)
    text += "at least ";
  text += std::to_string(wanted);
  if (extent.value.kind != Expression::Kind::Constant)
    text += " (" + extent.value.text() + ")";
  return text;
}

Status checkExtents(const TensorArgument &wanted, const TensorView &found,
                    const Symbols &symbols) {
  for (int axis = 0; axis < found.rank; ++axis) {
    const Extent &extent = wanted.shape[axis];
    if (extent.kind == Extent::Kind::Any)
      continue;
    const std::string where =
        "argument '" + wanted.name + "': axis " + std::to_string(axis);
    Result<int64_t> value = evaluate(extent.value, symbols);
    if (!value)
      return Error{where + ": " + value.message()};
    const bool exact = extent.kind == Extent::Kind::Exactly;
    if (exact ? found.extents[axis] == *value : found.extents[axis] >= *value)
      continue;
    return Error{where + wrongExtent(found.extents[axis], extent, *value)};
  }
  return {};
}

} // namespace

TensorView TensorView::dense(uint64_t address, DType dtype,
                             std::span<const int64_t> extents) {
  TensorView view;
  view.address = address;
  view.dtype = dtype;
  view.rank = static_cast<int>(std::min<size_t>(extents.size(), kMaxRank));
  int64_t step = 1;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    view.extents[axis] = extents[axis];
    view.strides[axis] = step;
    if (__builtin_mul_overflow(step, extents[axis], &step))
      step = 0;
  }
  return view;
}

bool TensorView::empty() const {
  for (int axis = 0; axis < std::min(rank, kMaxRank); ++axis)
    if (extents[axis] == 0)
      return true;
  return false;
}

std::string TensorView::shapeText() const { return list(extents, rank); }
std::string TensorView::stridesText() const { return list(strides, rank); }

Result<uint64_t> runtime::byteSpan(const TensorView &tensor) {
  if (tensor.rank < 0 || tensor.rank > kMaxRank)
    return Error{std::to_string(tensor.rank) + " axes, wanted at most " +
                 std::to_string(kMaxRank)};
  const std::string what =
      "shape " + tensor.shapeText() + " with strides " + tensor.stridesText();
  int64_t last = 0;
  for (int axis = 0; axis < tensor.rank; ++axis) {
    if (tensor.extents[axis] < 0)
      return Error{what + ": an extent below 0"};
    if (tensor.extents[axis] < 2)
      continue;
    int64_t reach = 0;
    if (tensor.strides[axis] < 0)
      return Error{what + ": a stride below 0"};
    if (__builtin_mul_overflow(tensor.extents[axis] - 1, tensor.strides[axis],
                               &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return Error{what + " does not fit 64 bits"};
  }
  if (tensor.empty())
    return uint64_t(0);
  int64_t bytes = 0;
  if (__builtin_add_overflow(last, 1, &bytes) ||
      __builtin_mul_overflow(bytes, byteWidth(tensor.dtype), &bytes))
    return Error{what + " does not fit 64 bits"};
  return static_cast<uint64_t>(bytes);
}

namespace {

/// What the operations of a step copy has to find room.
Status checkSteps(const Entry &entry, std::span<const TensorView> arguments) {
  for (const Step &step : entry.steps) {
    std::vector<const TensorView *> operands;
    for (const std::string &name : step.operands)
      for (size_t i = 0; i < arguments.size(); ++i)
        if (entry.arguments[i].name == name)
          operands.push_back(&arguments[i]);
    auto problem = [&](size_t first, const char *relation, size_t second) {
      return Error{step.operation + ": '" + step.operands[first] +
                   "' of shape " + operands[first]->shapeText() + " " +
                   relation + " '" + step.operands[second] + "' of shape " +
                   operands[second]->shapeText()};
    };
    if (step.operation == "insert_keys") {
      if (operands[0]->extents[0] != operands[1]->extents[0])
        return problem(0, "holds another number of tokens than", 1);
      continue;
    }
    for (int axis = 0; axis < operands[0]->rank; ++axis)
      if (operands[1]->extents[axis] < operands[0]->extents[axis])
        return problem(1, "is too small for", 0);
  }
  return {};
}

} // namespace

Result<Symbols> runtime::bindArguments(const Entry &entry,
                                       std::span<const TensorView> arguments) {
  if (arguments.size() != entry.arguments.size())
    return Error{"'" + entry.name + "' got " +
                 std::to_string(arguments.size()) + " arguments, wanted " +
                 std::to_string(entry.arguments.size())};
  for (size_t i = 0; i < arguments.size(); ++i)
    if (Status status = ArgumentCheck(entry.arguments[i], arguments[i]).run();
        !status)
      return status.takeError();

  Symbols symbols;
  for (const SymbolDefinition &definition : entry.symbols) {
    if (const auto *dim = std::get_if<ArgumentAxis>(&definition.source)) {
      for (size_t i = 0; i < arguments.size(); ++i)
        if (entry.arguments[i].name == dim->argument)
          symbols[definition.name] = arguments[i].extents[dim->axis];
      continue;
    }
    Result<int64_t> value =
        evaluate(std::get<Expression>(definition.source), symbols);
    if (!value)
      return Error{"symbol '" + definition.name + "': " + value.message()};
    symbols[definition.name] = *value;
  }
  if (auto requests = symbols.find("requests");
      requests != symbols.end() && requests->second > entry.maxRequests)
    return Error{"'" + entry.name + "' got " +
                 std::to_string(requests->second) +
                 " requests, it was built for at most " +
                 std::to_string(entry.maxRequests) + " (max_requests)"};
  if (auto rows = symbols.find("rows"); rows != symbols.end() &&
                                        entry.maxRows != 0 &&
                                        rows->second > entry.maxRows)
    return Error{"'" + entry.name + "' got " + std::to_string(rows->second) +
                 " rows, it was built for at most " +
                 std::to_string(entry.maxRows) + " (max_rows)"};
  for (size_t i = 0; i < arguments.size(); ++i)
    if (Status status = checkExtents(entry.arguments[i], arguments[i], symbols);
        !status)
      return status.takeError();
  if (Status status = checkSteps(entry, arguments); !status)
    return status.takeError();
  return symbols;
}
