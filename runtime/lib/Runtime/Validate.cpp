// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether a bundle's parts agree. What passes here can be launched without
// looking anything up that is not there.
#include "Spellings.h"
#include "winnow/Runtime/Manifest.h"
#include "winnow/Runtime/Visible.h"

#include <algorithm>
#include <set>

using namespace winnow;
using namespace winnow::runtime;

namespace {

// Generous against any real bundle, and small enough that a hostile one cannot
// make anything quadratic hurt.
constexpr size_t kMaxEntries = 1024;
constexpr size_t kMaxParts = 256; // arguments, symbols, launches, ...
constexpr size_t kMaxNameBytes = 256;

using Set = std::set<std::string, std::less<>>;

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string join(const Set &names) {
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

Error at(const std::string &where, const std::string &what) {
  return Error{where + ": " + what};
}

std::string index(const std::string &list, size_t i) {
  return list + "[" + std::to_string(i) + "]";
}

/// A C identifier: names become kernel symbols, JSON keys and file names.
Status identifier(const std::string &where, std::string_view name) {
  bool good = !name.empty() && name.size() <= kMaxNameBytes &&
              isLetter(name.front()) &&
              std::all_of(name.begin(), name.end(),
                          [](char c) { return isLetter(c) || isDigit(c); });
  if (good)
    return {};
  return at(where, "'" + visible(name.substr(0, kMaxNameBytes)) +
                       "' is not an identifier of at most " +
                       std::to_string(kMaxNameBytes) + " characters");
}

/// Letters, digits and `extra`, and no dot or dash in front: a file name that
/// stays in its folder, and no command line option.
Status word(const std::string &where, std::string_view name,
            std::string_view extra) {
  bool good = !name.empty() && name.size() <= kMaxNameBytes &&
              (isLetter(name.front()) || isDigit(name.front())) &&
              std::all_of(name.begin(), name.end(), [&](char c) {
                return isLetter(c) || isDigit(c) ||
                       extra.find(c) != std::string_view::npos;
              });
  if (good)
    return {};
  return at(where, "'" + visible(name.substr(0, kMaxNameBytes)) +
                       "' has to start with a letter or digit and hold those "
                       "and '" +
                       std::string(extra) + "' only");
}

Status unique(const std::string &where, const std::string &name, Set &names) {
  if (Status status = identifier(where, name); !status)
    return status;
  if (!names.insert(name).second)
    return at(where, "'" + name + "' is there twice");
  return {};
}

Status fewer(const std::string &where, size_t found, size_t limit) {
  if (found <= limit)
    return {};
  return at(where, std::to_string(found) + " of them, at most " +
                       std::to_string(limit) + " are allowed");
}

Status between(const std::string &where, int64_t value, int64_t low,
               int64_t high) {
  if (value >= low && value <= high)
    return {};
  return at(where, std::to_string(value) + " is not in [" +
                       std::to_string(low) + ", " + std::to_string(high) + "]");
}

Status expression(const std::string &where, const Expression &value,
                  const Set &symbols, int depth = 0) {
  if (depth > kMaxExpressionDepth)
    return at(where, "an expression nested deeper than " +
                         std::to_string(kMaxExpressionDepth));
  if (value.kind == Expression::Kind::Constant)
    return {};
  if (value.kind == Expression::Kind::Symbol) {
    if (symbols.contains(value.symbol))
      return {};
    return at(where, "unknown symbol '" + value.symbol +
                         "'; known here: " + join(symbols));
  }
  if (value.operands.size() != 2)
    return at(where, "'" + std::string(operationName(value.kind)) + "' has " +
                         std::to_string(value.operands.size()) +
                         " operands, wanted 2");
  for (const Expression &operand : value.operands)
    if (Status status = expression(where, operand, symbols, depth + 1); !status)
      return status;
  return {};
}

/// The checks of one entry, in the order in which its parts refer to each
/// other: arguments, symbols, shapes, workspace, launches.
class EntryCheck {
public:
  EntryCheck(const Bundle &bundle, const Entry &entry, std::string where)
      : bundle(bundle), entry(entry), where(std::move(where)) {}

  Status run() {
    for (auto step : {&EntryCheck::counts, &EntryCheck::arguments,
                      &EntryCheck::symbolDefinitions, &EntryCheck::shapes,
                      &EntryCheck::workspace, &EntryCheck::launches,
                      &EntryCheck::steps, &EntryCheck::schedules})
      if (Status status = (this->*step)(); !status)
        return status;
    return {};
  }

private:
  Status counts() {
    if (Status s = between(where + ".bounds.max_seq_len", entry.maxSeqLen, 1,
                           INT32_MAX);
        !s)
      return s;
    if (Status s = between(where + ".bounds.max_requests", entry.maxRequests, 1,
                           INT32_MAX);
        !s)
      return s;
    for (auto [name, value] : {std::pair("max_query_len", entry.maxQueryLen),
                               std::pair("max_rows", entry.maxRows)})
      if (Status s = between(where + ".bounds." + name, value, 0, INT32_MAX);
          !s)
        return s;
    if (Status s = word(where + ".lowering", entry.lowering, "_-"); !s)
      return s;
    if (entry.arguments.empty())
      return at(where + ".arguments", "none, wanted at least 1");
    if (entry.launches.empty())
      return at(where + ".launches", "none, wanted at least 1");
    if (Status s =
            fewer(where + ".arguments", entry.arguments.size(), kMaxParts);
        !s)
      return s;
    if (Status s = fewer(where + ".symbols", entry.symbols.size(), kMaxParts);
        !s)
      return s;
    if (Status s =
            fewer(where + ".workspace", entry.workspace.size(), kMaxParts);
        !s)
      return s;
    return fewer(where + ".launches", entry.launches.size(), kMaxParts);
  }

  Status arguments() {
    std::set<Role> roles;
    for (size_t i = 0; i < entry.arguments.size(); ++i) {
      const TensorArgument &argument = entry.arguments[i];
      const std::string here = index(where + ".arguments", i);
      if (Status s = unique(here + ".name", argument.name, tensors); !s)
        return s;
      if (argument.role != Role::Step && !roles.insert(argument.role).second)
        return at(here + ".role", "'" + std::string(roleName(argument.role)) +
                                      "' is there twice");
      if (Status s =
              between(here + ".shape: number of axes",
                      static_cast<int64_t>(argument.shape.size()), 1, kMaxRank);
          !s)
        return s;
      if (Status s = between(here + ".alignment", argument.alignment, 0, 4096);
          !s)
        return s;
      if ((argument.alignment & (argument.alignment - 1)) != 0)
        return at(here + ".alignment",
                  std::to_string(argument.alignment) + " is no power of two");
      if (Status s = strides(here + ".strides", argument); !s)
        return s;
    }
    return {};
  }

  static Status strides(const std::string &here,
                        const TensorArgument &argument) {
    if (argument.strides.empty())
      return {};
    if (argument.layout == Layout::Contiguous)
      return at(here, "given, but the layout is contiguous");
    if (argument.strides.size() != argument.shape.size())
      return at(here, std::to_string(argument.strides.size()) +
                          " of them, wanted one for each of " +
                          std::to_string(argument.shape.size()) + " axes");
    for (size_t axis = 0; axis < argument.strides.size(); ++axis)
      if (Status s = between(index(here, axis), argument.strides[axis],
                             kAnyStride, INT64_MAX);
          !s)
        return s;
    // Kernels move whole vectors along the last axis.
    if (argument.strides.back() != 1)
      return at(index(here, argument.strides.size() - 1),
                std::to_string(argument.strides.back()) + ", wanted 1");
    return {};
  }

  Status symbolDefinitions() {
    for (size_t i = 0; i < entry.symbols.size(); ++i) {
      const SymbolDefinition &definition = entry.symbols[i];
      const std::string here = where + ".symbols." + definition.name;
      if (const auto *dim = std::get_if<ArgumentAxis>(&definition.source)) {
        const TensorArgument *argument = entry.argument(dim->argument);
        if (!argument)
          return at(here, "unknown argument '" + dim->argument + "'");
        if (Status s =
                between(here + ": axis of '" + dim->argument + "'", dim->axis,
                        0, static_cast<int64_t>(argument->shape.size()) - 1);
            !s)
          return s;
      } else if (Status s = expression(
                     here, std::get<Expression>(definition.source), symbols);
                 !s) {
        return s;
      }
      if (Status s = unique(here, definition.name, symbols); !s)
        return s;
    }
    return {};
  }

  Status shapes() {
    for (size_t i = 0; i < entry.arguments.size(); ++i) {
      const std::vector<Extent> &shape = entry.arguments[i].shape;
      for (size_t axis = 0; axis < shape.size(); ++axis)
        if (Status s = expression(
                index(index(where + ".arguments", i) + ".shape", axis),
                shape[axis].value, symbols);
            !s)
          return s;
    }
    return {};
  }

  Status workspace() {
    for (size_t i = 0; i < entry.workspace.size(); ++i) {
      const WorkspaceTensor &tensor = entry.workspace[i];
      const std::string here = index(where + ".workspace", i);
      if (Status s = unique(here + ".name", tensor.name, tensors); !s)
        return s;
      if (Status s =
              between(here + ".shape: number of axes",
                      static_cast<int64_t>(tensor.shape.size()), 1, kMaxRank);
          !s)
        return s;
      for (size_t axis = 0; axis < tensor.shape.size(); ++axis)
        if (Status s = expression(index(here + ".shape", axis),
                                  tensor.shape[axis], symbols);
            !s)
          return s;
    }
    return {};
  }

  int64_t rankOf(const std::string &tensor) const {
    if (const TensorArgument *argument = entry.argument(tensor))
      return static_cast<int64_t>(argument->shape.size());
    for (const WorkspaceTensor &candidate : entry.workspace)
      if (candidate.name == tensor)
        return static_cast<int64_t>(candidate.shape.size());
    return 0;
  }

  Status launches() {
    for (size_t i = 0; i < entry.launches.size(); ++i) {
      const Launch &launch = entry.launches[i];
      const std::string here = index(where + ".launches", i);
      if (Status s = identifier(here + ".kernel", launch.kernel); !s)
        return s;
      if (launch.source >= bundle.sources.size())
        return at(here + ".source",
                  std::to_string(launch.source) + ", the bundle has " +
                      std::to_string(bundle.sources.size()) + " sources");
      int64_t workItems = 1;
      for (size_t axis = 0; axis < 3; ++axis) {
        if (Status s = expression(index(here + ".grid", axis),
                                  launch.grid[axis], symbols);
            !s)
          return s;
        if (Status s = between(index(here + ".block", axis), launch.block[axis],
                               1, 1024);
            !s)
          return s;
        workItems *= launch.block[axis];
      }
      // The largest workgroup of HIP devices; LLVM AMDGPUUsage,
      // ".max_flat_workgroup_size".
      if (Status s = between(here + ".block: work items", workItems, 1, 1024);
          !s)
        return s;
      // 160 KiB: the LDS of a gfx950 compute unit.
      if (Status s = between(here + ".dynamic_lds_bytes",
                             launch.dynamicLdsBytes, 0, 160 * 1024);
          !s)
        return s;
      if (Status s =
              fewer(here + ".arguments", launch.arguments.size(), kMaxParts);
          !s)
        return s;
      for (size_t j = 0; j < launch.arguments.size(); ++j) {
        const KernelArgument &argument = launch.arguments[j];
        const std::string there = index(here + ".arguments", j);
        if (!tensors.contains(argument.tensor))
          return at(there, "unknown tensor '" + argument.tensor +
                               "'; known: " + join(tensors));
        if (argument.kind != KernelArgument::Kind::Tensor)
          if (Status s = between(there + ": axis of '" + argument.tensor + "'",
                                 argument.axis, 0, rankOf(argument.tensor) - 1);
              !s)
            return s;
      }
    }
    return {};
  }

  /// What bindArguments reads off the operands has to be there.
  Status schedules() {
    if (Status s =
            fewer(where + ".schedules", entry.schedules.size(), kMaxParts);
        !s)
      return s;
    std::set<std::string, std::less<>> seen;
    for (size_t i = 0; i < entry.schedules.size(); ++i) {
      const Schedule &schedule = entry.schedules[i];
      const std::string here = index(where + ".schedules", i);
      if (Status s = unique(here + ".kernel", schedule.kernel, seen); !s)
        return s;
      if (std::none_of(entry.launches.begin(), entry.launches.end(),
                       [&](const Launch &launch) {
                         return launch.kernel == schedule.kernel;
                       }))
        return at(here + ".kernel",
                  "'" + schedule.kernel + "' is launched nowhere");
      if (Status s = fewer(here + ".parameters", schedule.parameters.size(),
                           kMaxParts);
          !s)
        return s;
      for (const auto &[name, value] : schedule.parameters)
        if (Status s = word(here + ".parameters", name, "_."); !s)
          return s;
      for (const auto &[name, text] : schedule.from) {
        if (!schedule.parameters.contains(name))
          return at(here + ".from", "'" + name + "' is no parameter");
        if (text.empty() || text.size() > kMaxNameBytes)
          return at((here + ".from.").append(name),
                    std::to_string(text.size()) + " characters, wanted 1 to " +
                        std::to_string(kMaxNameBytes));
      }
    }
    return {};
  }

  Status steps() {
    if (Status s = fewer(where + ".steps", entry.steps.size(), kMaxParts); !s)
      return s;
    for (size_t i = 0; i < entry.steps.size(); ++i) {
      const Step &step = entry.steps[i];
      const std::string here = index(where + ".steps", i);
      static constexpr struct {
        std::string_view name;
        std::array<size_t, 3> ranks; // of the operands; 0 for none
      } known[] = {{"rebase_table", {2, 2, 0}},
                   {"rebase_slots", {1, 1, 0}},
                   {"insert_keys", {2, 1, 3}}};
      const auto *operation = std::find_if(
          std::begin(known), std::end(known),
          [&](const auto &each) { return each.name == step.operation; });
      if (operation == std::end(known))
        return at(here + ".operation",
                  "'" + step.operation +
                      "', wanted rebase_table, rebase_slots or insert_keys");
      const size_t count = operation->ranks[2] ? 3 : 2;
      if (step.operands.size() != count)
        return at(here + ".operands", std::to_string(step.operands.size()) +
                                          ", wanted " + std::to_string(count));
      for (size_t j = 0; j < count; ++j) {
        const TensorArgument *argument = entry.argument(step.operands[j]);
        if (!argument)
          return at(index(here + ".operands", j),
                    "unknown argument '" + step.operands[j] + "'");
        if (argument->shape.size() != operation->ranks[j])
          return at(index(here + ".operands", j),
                    "'" + step.operands[j] + "' has " +
                        std::to_string(argument->shape.size()) +
                        " axes, wanted " + std::to_string(operation->ranks[j]));
      }
      if (Status s = between(here + ".sides", step.sides, 1, INT32_MAX); !s)
        return s;
      if (Status s =
              between(here + ".block_size", step.blockSize, 1, INT32_MAX);
          !s)
        return s;
    }
    return {};
  }

  const Bundle &bundle;
  const Entry &entry;
  const std::string where;
  Set tensors, symbols;
};

/// An architecture that sources of both entries are for, or empty.
std::string sharedArch(const Bundle &bundle, const Entry &a, const Entry &b) {
  for (const Launch &one : a.launches)
    for (const std::string &arch : bundle.sources[one.source].archs)
      for (const Launch &two : b.launches) {
        const std::vector<std::string> &archs =
            bundle.sources[two.source].archs;
        if (std::find(archs.begin(), archs.end(), arch) != archs.end())
          return arch;
      }
  return "";
}

/// Two entries of one name: the same call, lowered in another way or for
/// another architecture.
Status variant(const std::string &where, const Bundle &bundle,
               const Entry &entry, const Entry &other) {
  if (entry.lowering == other.lowering)
    if (const std::string arch = sharedArch(bundle, entry, other);
        !arch.empty())
      return at(where + ".lowering", "'" + entry.lowering + "' of entry '" +
                                         entry.name + "' for " + arch +
                                         " is there twice");
  if (entry.arguments.size() != other.arguments.size())
    return at(where + ".arguments", std::to_string(entry.arguments.size()) +
                                        ", the variant '" + other.lowering +
                                        "' of '" + entry.name + "' has " +
                                        std::to_string(other.arguments.size()));
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    const TensorArgument &a = entry.arguments[i], &b = other.arguments[i];
    if (a.name != b.name || a.dtype != b.dtype || a.access != b.access ||
        a.role != b.role || a.shape.size() != b.shape.size())
      return at(index(where + ".arguments", i),
                "'" + a.name + "' is not the '" + b.name +
                    "' of the variant '" + other.lowering + "' of '" +
                    entry.name +
                    "': name, type, access, role and number of "
                    "axes have to agree");
  }
  return {};
}

} // namespace

Status runtime::validate(const Bundle &bundle) {
  if (bundle.entries.empty())
    return at("entries", "none, wanted at least 1");
  if (Status s = fewer("entries", bundle.entries.size(), kMaxEntries); !s)
    return s;
  if (Status s = fewer("sources", bundle.sources.size(), kMaxEntries); !s)
    return s;
  if (Status s = fewer("code_objects", bundle.codeObjects.size(), kMaxEntries);
      !s)
    return s;

  Set names;
  for (size_t i = 0; i < bundle.sources.size(); ++i) {
    const Source &source = bundle.sources[i];
    const std::string here = index("sources", i);
    if (Status s = word(here + ".name", source.name, "_-."); !s)
      return s;
    if (!names.insert(source.name).second)
      return at(here + ".name", "'" + source.name + "' is there twice");
    if (Status s = word(here + ".lowering", source.lowering, "_-"); !s)
      return s;
    if (source.archs.empty())
      return at(here + ".arch", "none, wanted at least 1");
    if (Status s = fewer(here + ".arch", source.archs.size(), kMaxParts); !s)
      return s;
    for (size_t j = 0; j < source.archs.size(); ++j)
      if (Status s = word(index(here + ".arch", j), source.archs[j], "_-+:");
          !s)
        return s;
  }

  std::set<std::pair<uint32_t, std::string>> compiled;
  for (size_t i = 0; i < bundle.codeObjects.size(); ++i) {
    const CodeObject &object = bundle.codeObjects[i];
    const std::string here = index("code_objects", i);
    if (object.source >= bundle.sources.size())
      return at(here + ".source",
                std::to_string(object.source) + ", the bundle has " +
                    std::to_string(bundle.sources.size()) + " sources");
    if (Status s = word(here + ".arch", object.arch, "_-+:"); !s)
      return s;
    if (object.bytes.empty())
      return at(here + ".bytes", "0, wanted at least 1");
    if (!compiled.emplace(object.source, object.arch).second)
      return at(here, "source " + std::to_string(object.source) + " for " +
                          object.arch + " is there twice");
  }

  for (size_t i = 0; i < bundle.entries.size(); ++i) {
    const std::string here = index("entries", i);
    if (Status s = identifier(here + ".name", bundle.entries[i].name); !s)
      return s;
    if (Status s = EntryCheck(bundle, bundle.entries[i], here).run(); !s)
      return s;
    for (size_t j = 0; j < i; ++j)
      if (bundle.entries[j].name == bundle.entries[i].name)
        if (Status s =
                variant(here, bundle, bundle.entries[i], bundle.entries[j]);
            !s)
          return s;
  }
  return {};
}
