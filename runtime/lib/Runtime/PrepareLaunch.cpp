// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles an entry into the arrays of PreparedLaunch, once a plan; and finds
// the words for what the launch path refuses.
#include "winnow/Runtime/PreparedLaunch.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

int indexIn(const auto &list, std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name)
      return static_cast<int>(i);
  return -1;
}

Status most(const Entry &entry, const char *what, size_t found, size_t limit) {
  if (found <= limit)
    return {};
  return Error{"'" + entry.name + "' has " + std::to_string(found) + " " +
               what + ", a plan holds at most " + std::to_string(limit)};
}

} // namespace

void PreparedLaunch::append(const Expression &expression) {
  for (const Expression &operand : expression.operands)
    append(operand);
  int64_t value = expression.constant;
  if (expression.kind == Expression::Kind::Symbol)
    value = symbol(expression.symbol);
  operations.push_back({expression.kind, value});
}

PreparedLaunch::Formula PreparedLaunch::compile(const Expression &expression) {
  Formula formula;
  if (expression.kind == Expression::Kind::Constant) {
    formula.value = expression.constant;
  } else if (expression.kind == Expression::Kind::Symbol) {
    formula.kind = Formula::Kind::Symbol;
    formula.value = symbol(expression.symbol);
  } else {
    formula.kind = Formula::Kind::Operations;
    formula.first = static_cast<uint32_t>(operations.size());
    append(expression);
    formula.count = static_cast<uint32_t>(operations.size()) - formula.first;
  }
  return formula;
}

int PreparedLaunch::symbol(std::string_view name) const {
  return indexIn(source->symbols, name);
}

Result<PreparedLaunch> PreparedLaunch::make(const Entry &entry) {
  size_t kernargs = 0;
  for (const runtime::Launch &launch : entry.launches)
    kernargs += launch.arguments.size();
  for (const auto &[what, found, limit] :
       {std::tuple("arguments", entry.arguments.size(), PackBuffer::kTensors),
        std::tuple("workspace tensors", entry.workspace.size(),
                   PackBuffer::kTensors),
        std::tuple("symbols", entry.symbols.size(), PackBuffer::kSymbols),
        std::tuple("launches", entry.launches.size(), PackBuffer::kLaunches),
        std::tuple("kernel arguments", kernargs, PackBuffer::kKernargs)})
    if (Status status = most(entry, what, found, limit); !status)
      return status.takeError();

  PreparedLaunch prepared;
  prepared.source = std::make_shared<const Entry>(entry);
  for (const SymbolDefinition &definition : entry.symbols) {
    Symbol symbol;
    if (const auto *dim = std::get_if<ArgumentAxis>(&definition.source)) {
      symbol.argument = indexIn(entry.arguments, dim->argument);
      symbol.axis = static_cast<int>(dim->axis);
    } else {
      symbol.value = prepared.compile(std::get<Expression>(definition.source));
    }
    prepared.symbols.push_back(symbol);
  }
  prepared.requests = prepared.symbol("requests");
  prepared.rows = prepared.symbol("rows");

  for (const TensorArgument &from : entry.arguments) {
    Argument argument{};
    argument.dtype = from.dtype;
    argument.rank = static_cast<int>(from.shape.size());
    argument.isContiguous = from.layout == Layout::Contiguous;
    argument.hasStrides = !from.strides.empty();
    for (int axis = 0; axis < kMaxRank; ++axis)
      argument.strides[axis] = argument.hasStrides && axis < argument.rank
                                   ? from.strides[axis]
                                   : kAnyStride;
    argument.isWritten = from.access != Access::Read;
    argument.isVector = from.role == Role::Query || from.role == Role::Keys;
    argument.width = byteWidth(from.dtype);
    argument.alignment = static_cast<uint64_t>(from.addressAlignment());
    for (int axis = 0; axis < argument.rank; ++axis)
      argument.axes[axis] = {from.shape[axis].kind,
                             prepared.compile(from.shape[axis].value)};
    prepared.arguments.push_back(argument);
  }
  for (const runtime::Step &from : entry.steps) {
    Step step{};
    step.isInsertion = from.operation == "insert_keys";
    step.from = indexIn(entry.arguments, from.operands[0]);
    step.to = indexIn(entry.arguments, from.operands[1]);
    step.axes = step.isInsertion ? 0 : prepared.arguments[step.from].rank;
    prepared.steps.push_back(step);
  }
  for (const WorkspaceTensor &from : entry.workspace) {
    Workspace tensor{};
    tensor.rank = static_cast<int>(from.shape.size());
    tensor.width = byteWidth(from.dtype);
    for (int axis = 0; axis < tensor.rank; ++axis)
      tensor.extents[axis] = prepared.compile(from.shape[axis]);
    prepared.workspace.push_back(tensor);
  }
  for (const runtime::Launch &from : entry.launches) {
    Launch launch{};
    for (int axis = 0; axis < 3; ++axis) {
      launch.grid[axis] = prepared.compile(from.grid[axis]);
      // A dispatch packet counts work items in 32 bits.
      launch.mostWorkgroups[axis] = UINT32_MAX / from.block[axis];
    }
    launch.firstKernarg = static_cast<uint32_t>(prepared.kernargs.size());
    launch.kernargCount = static_cast<uint32_t>(from.arguments.size());
    for (const KernelArgument &argument : from.arguments) {
      const int found = indexIn(entry.arguments, argument.tensor);
      const int tensor =
          found >= 0 ? found : indexIn(entry.workspace, argument.tensor);
      prepared.kernargs.push_back({argument.kind, found < 0,
                                   static_cast<uint16_t>(tensor),
                                   static_cast<uint16_t>(argument.axis)});
    }
    prepared.launches.push_back(launch);
  }
  return prepared;
}

Result<uint64_t>
PreparedLaunch::workspaceBytes(const CallBounds &bounds) const {
  // Formulas grow with their symbols (but for `mod`, which no lowering sizes
  // memory by; a call that needs more is refused when it is launched).
  PackBuffer buffer;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const int index = static_cast<int>(i);
    if (index == requests)
      buffer.symbols[i] = bounds.maxRequests;
    else if (index == rows && bounds.maxRows != 0)
      buffer.symbols[i] = bounds.maxRows;
    else if (symbols[i].argument >= 0)
      buffer.symbols[i] = 0; // of steps, which need no workspace
    else if (!evaluate(symbols[i].value, buffer.symbols, buffer.symbols[i]))
      return Error{"symbol '" + source->symbols[i].name +
                   "': no value for the largest call"};
  }
  if (!placeWorkspace(buffer))
    return Error{"the workspace of '" + source->name +
                 "' for the largest call does not fit 64 bits"};
  return buffer.workspaceBytes;
}

Error PreparedLaunch::whyNot(std::span<const TensorView> found,
                             uint64_t memory) const {
  Result<Symbols> bound = bindArguments(*source, found);
  if (!bound)
    return bound.takeError();
  Result<std::vector<TensorView>> tensors = workspaceTensors(*source, *bound);
  if (!tensors)
    return tensors.takeError();
  if (memory % kWorkspaceAlignment != 0)
    return Error{"the workspace is " +
                 std::to_string(memory % kWorkspaceAlignment) +
                 " bytes past a multiple of " +
                 std::to_string(kWorkspaceAlignment) + ", wanted it aligned"};
  uint64_t offset = 0;
  for (TensorView &tensor : *tensors) {
    Result<uint64_t> bytes = byteSpan(tensor);
    if (!bytes)
      return bytes.takeError();
    tensor.address = memory == 0 ? 0 : memory + offset;
    if (*bytes > (uint64_t(1) << 56))
      return Error{"a workspace of shape " + tensor.shapeText() +
                   " is larger than any memory"};
    offset += (*bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
              kWorkspaceAlignment;
  }
  Result<std::vector<ResolvedLaunch>> resolved =
      resolveLaunches(*source, *bound, found, *tensors);
  if (!resolved)
    return resolved.takeError();
  return Error{"'" + source->name +
               "': the prepared launch refuses a call "
               "that the manifest allows; this is a fault of the runtime"};
}
