// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Manifest JSON to types: the form of every field. What the fields say of each
// other is checked afterwards by `validate`.
#include "ManifestJson.h"
#include "Spellings.h"
#include "winnow/Runtime/Bundle.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

/// The word in `field`, one of `table`; an error lists them.
template <typename Enum, size_t N>
Enum word(JsonFields &fields, const char *field,
          const std::pair<Enum, std::string_view> (&table)[N]) {
  const std::string found = fields.text(field);
  if (std::optional<Enum> value = parseSpelling(table, found))
    return *value;
  fields.fail(field, "'" + found + "', wanted one of " + spellings(table));
  return table[0].first;
}

Result<Expression> readExpression(const Json &json, const std::string &where,
                                  int depth = 0) {
  if (depth > kMaxExpressionDepth)
    return Error{where + ": an expression nested deeper than " +
                 std::to_string(kMaxExpressionDepth)};
  if (json.is_number_integer() &&
      !(json.is_number_unsigned() &&
        json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
    return Expression(json.get<int64_t>());
  if (json.is_string())
    return Expression(json.get_ref<const std::string &>());
  if (json.is_array() && json.size() == 3 && json[0].is_string()) {
    const std::string &name = json[0].get_ref<const std::string &>();
    std::optional<Expression::Kind> kind = parseSpelling(kOperations, name);
    if (!kind)
      return Error{where + ": unknown operation '" + name.substr(0, 80) +
                   "', wanted one of " + spellings(kOperations)};
    Expression expression;
    expression.kind = *kind;
    for (int i : {1, 2}) {
      Result<Expression> operand = readExpression(json[i], where, depth + 1);
      if (!operand)
        return operand;
      expression.operands.push_back(std::move(*operand));
    }
    return expression;
  }
  return Error{where + ": " + describe(json) +
               ", wanted a whole number, a symbol or [operation, a, b]"};
}

Result<Extent> readExtent(const Json &json, const std::string &where) {
  if (json.is_null())
    return Extent::any();
  const bool least = json.is_object();
  const Json *value = &json;
  if (least) {
    JsonFields fields(json, where);
    value = fields.any("min");
    if (Status status = fields.finish(); !status)
      return status.takeError();
  }
  Result<Expression> expression =
      readExpression(*value, least ? where + ".min" : where);
  if (!expression)
    return expression.takeError();
  return least ? Extent::atLeast(std::move(*expression))
               : Extent::exactly(std::move(*expression));
}

/// Appends what `read` makes of each element of an array field.
template <typename T, typename Read>
void readList(JsonFields &fields, const char *field, std::vector<T> &out,
              Read read) {
  std::vector<const Json *> elements = fields.array(field);
  for (size_t i = 0; i < elements.size(); ++i) {
    Result<T> element = read(*elements[i], fields.place(field, i));
    if (!element)
      return fields.fail(element.takeError());
    out.push_back(std::move(*element));
  }
}

/// `null`, or a step from 0 up.
Result<int64_t> readStride(const Json &json, const std::string &where) {
  if (json.is_null())
    return kAnyStride;
  if (!json.is_number_unsigned() ||
      json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    return Error{where + ": " + describe(json) +
                 ", wanted null or a whole number from 0 up"};
  return json.get<int64_t>();
}

Result<TensorArgument> readArgument(const Json &json,
                                    const std::string &where) {
  JsonFields fields(json, where);
  TensorArgument argument;
  argument.name = fields.text("name");
  argument.dtype = word(fields, "dtype", kDTypes);
  argument.access = word(fields, "access", kAccesses);
  argument.role = word(fields, "role", kRoles);
  argument.layout = word(fields, "layout", kLayouts);
  if (fields.optional("alignment"))
    argument.alignment = fields.integer("alignment");
  if (fields.optional("strides"))
    readList(fields, "strides", argument.strides, readStride);
  readList(fields, "shape", argument.shape, readExtent);
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return argument;
}

Result<WorkspaceTensor> readWorkspace(const Json &json,
                                      const std::string &where) {
  JsonFields fields(json, where);
  WorkspaceTensor tensor;
  tensor.name = fields.text("name");
  tensor.dtype = word(fields, "dtype", kDTypes);
  readList(fields, "shape", tensor.shape,
           [](const Json &extent, const std::string &place) {
             return readExpression(extent, place);
           });
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return tensor;
}

/// The array [name, axis].
Status readAxis(const Json &json, const std::string &where, std::string &name,
                int64_t &axis) {
  if (!json.is_array() || json.size() != 2 || !json[0].is_string() ||
      !json[1].is_number_unsigned() || json[1].get<uint64_t>() >= kMaxRank)
    return Error{where + ": " + describe(json) +
                 ", wanted [tensor name, axis below " +
                 std::to_string(kMaxRank) + "]"};
  name = json[0].get_ref<const std::string &>();
  axis = json[1].get<int64_t>();
  return {};
}

Result<SymbolDefinition> readSymbol(const std::string &name, const Json &json,
                                    const std::string &where) {
  SymbolDefinition definition;
  definition.name = name;
  if (json.is_object()) {
    JsonFields fields(json, where);
    ArgumentAxis dim;
    if (const Json *axis = fields.any("dim"))
      if (Status status =
              readAxis(*axis, where + ".dim", dim.argument, dim.axis);
          !status)
        fields.fail(status.takeError());
    if (Status status = fields.finish(); !status)
      return status.takeError();
    definition.source = std::move(dim);
    return definition;
  }
  Result<Expression> expression = readExpression(json, where);
  if (!expression)
    return expression.takeError();
  definition.source = std::move(*expression);
  return definition;
}

Result<KernelArgument> readKernelArgument(const Json &json,
                                          const std::string &where) {
  JsonFields fields(json, where);
  KernelArgument argument;
  using Kind = KernelArgument::Kind;
  const Json *stride = fields.optional("stride");
  if (const Json *axis = stride ? stride : fields.optional("extent")) {
    argument.kind = stride ? Kind::Stride : Kind::Extent;
    if (Status status =
            readAxis(*axis, where + (stride ? ".stride" : ".extent"),
                     argument.tensor, argument.axis);
        !status)
      fields.fail(status.takeError());
  } else {
    argument.tensor = fields.text("tensor");
  }
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return argument;
}

Result<int64_t> readInteger(const Json &json, const std::string &where) {
  if (json.is_number_integer() &&
      !(json.is_number_unsigned() &&
        json.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)))
    return json.get<int64_t>();
  return Error{where + ": " + describe(json) + ", wanted a whole number"};
}

uint32_t readIndex(JsonFields &fields, const char *field) {
  const uint64_t found = fields.size(field);
  if (found > UINT32_MAX)
    fields.fail(field, std::to_string(found) + " is not an index");
  return static_cast<uint32_t>(found);
}

Result<Launch> readLaunch(const Json &json, const std::string &where) {
  JsonFields fields(json, where);
  Launch launch;
  launch.kernel = fields.text("kernel");
  launch.source = readIndex(fields, "source");
  std::vector<Expression> grid;
  readList(fields, "grid", grid,
           [](const Json &value, const std::string &place) {
             return readExpression(value, place);
           });
  std::vector<int64_t> block;
  readList(fields, "block", block, readInteger);
  launch.dynamicLdsBytes = fields.integer("dynamic_lds_bytes");
  readList(fields, "arguments", launch.arguments, readKernelArgument);
  if (grid.size() != 3)
    fields.fail("grid", std::to_string(grid.size()) + " axes, wanted 3");
  if (block.size() != 3)
    fields.fail("block", std::to_string(block.size()) + " axes, wanted 3");
  if (Status status = fields.finish(); !status)
    return status.takeError();
  std::move(grid.begin(), grid.end(), launch.grid.begin());
  std::copy(block.begin(), block.end(), launch.block.begin());
  return launch;
}

Result<Step> readStep(const Json &json, const std::string &where) {
  JsonFields fields(json, where);
  Step step;
  step.operation = fields.text("operation");
  readList(
      fields, "operands", step.operands,
      [](const Json &value, const std::string &place) -> Result<std::string> {
        if (!value.is_string())
          return Error{place + ": " + describe(value) +
                       ", wanted an argument's name"};
        return value.get<std::string>();
      });
  step.sides = fields.integer("sides");
  step.blockSize = fields.integer("block_size");
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return step;
}

Result<Schedule> readSchedule(const Json &json, const std::string &where) {
  JsonFields fields(json, where);
  Schedule schedule;
  schedule.kernel = fields.text("kernel");
  auto readObject = [&](const char *field, const Json *object, auto &&read) {
    if (!object)
      return;
    if (!object->is_object())
      return fields.fail(field, describe(*object) + ", wanted an object");
    for (const auto &[name, value] : object->items())
      read(name, value);
  };
  readObject("parameters", fields.any("parameters"),
             [&](const std::string &name, const Json &value) {
               Result<int64_t> number =
                   readInteger(value, where + ".parameters." + name);
               if (number)
                 schedule.parameters[name] = *number;
               else
                 fields.fail(number.takeError());
             });
  readObject("from", fields.optional("from"),
             [&](const std::string &name, const Json &value) {
               if (value.is_string())
                 schedule.from[name] = value.get_ref<const std::string &>();
               else
                 fields.fail("from." + name,
                             describe(value) + ", wanted a string");
             });
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return schedule;
}

void readFacts(JsonFields &fields, Facts &facts) {
  const Json *json = fields.any("facts");
  if (!json)
    return;
  if (!json->is_object())
    return fields.fail("facts", describe(*json) + ", wanted an object");
  for (const auto &[name, value] : json->items()) {
    if (value.is_string())
      facts[name] = value.get_ref<const std::string &>();
    else if (value.is_boolean())
      facts[name] = value.get<bool>();
    else if (Result<int64_t> number =
                 readInteger(value, fields.place() + ".facts." + name))
      facts[name] = *number;
    else
      return fields.fail(number.takeError());
  }
}

/// A contract's own JSON, kept as text: its reader is elsewhere.
std::string readContract(JsonFields &fields, const char *field) {
  const Json *json = fields.any(field);
  if (!json || json->is_null())
    return {};
  if (json->is_object())
    return json->dump();
  fields.fail(field, describe(*json) + ", wanted an object or null");
  return {};
}

Result<Entry> readEntry(const Json &json, const std::string &where) {
  JsonFields fields(json, where);
  Entry entry;
  entry.name = fields.text("name");
  readFacts(fields, entry.facts);
  entry.contract = readContract(fields, "contract");
  if (const Json *lowering = fields.any("lowering")) {
    JsonFields inner(*lowering, where + ".lowering");
    entry.lowering = inner.text("name");
    entry.loweringContract = readContract(inner, "contract");
    if (Status status = inner.finish(); !status)
      fields.fail(status.takeError());
  }
  if (const Json *bounds = fields.any("bounds")) {
    JsonFields inner(*bounds, where + ".bounds");
    entry.maxSeqLen = inner.integer("max_seq_len");
    entry.maxRequests = inner.integer("max_requests");
    if (inner.optional("max_query_len"))
      entry.maxQueryLen = inner.integer("max_query_len");
    if (inner.optional("max_rows"))
      entry.maxRows = inner.integer("max_rows");
    if (Status status = inner.finish(); !status)
      fields.fail(status.takeError());
  }
  if (const Json *symbols = fields.any("symbols")) {
    if (!symbols->is_object())
      fields.fail("symbols", describe(*symbols) + ", wanted an object");
    else
      for (const auto &[name, value] : symbols->items()) {
        Result<SymbolDefinition> symbol =
            readSymbol(name, value, where + ".symbols." + name.substr(0, 80));
        if (!symbol) {
          fields.fail(symbol.takeError());
          break;
        }
        entry.symbols.push_back(std::move(*symbol));
      }
  }
  readList(fields, "arguments", entry.arguments, readArgument);
  readList(fields, "workspace", entry.workspace, readWorkspace);
  if (fields.optional("steps"))
    readList(fields, "steps", entry.steps, readStep);
  readList(fields, "launches", entry.launches, readLaunch);
  if (fields.optional("schedules"))
    readList(fields, "schedules", entry.schedules, readSchedule);
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return entry;
}

Result<std::string> readString(const Json &json, const std::string &where) {
  if (json.is_string())
    return json.get_ref<const std::string &>();
  return Error{where + ": " + describe(json) + ", wanted a string"};
}

} // namespace

Result<ParsedManifest> runtime::manifestFromJson(const Json &json) {
  JsonFields fields(json, "manifest");
  ParsedManifest manifest;
  Bundle &bundle = manifest.bundle;
  if (const std::string format = fields.text("format");
      format != "winnow-bundle")
    fields.fail("format",
                "'" + format.substr(0, 80) + "', wanted 'winnow-bundle'");
  if (const int64_t version = fields.integer("version");
      version != kBundleVersion)
    fields.fail("version", std::to_string(version) + ", wanted " +
                               std::to_string(kBundleVersion));
  bundle.generator = fields.text("generator");
  readList(fields, "entries", bundle.entries, readEntry);

  auto readRange = [&](JsonFields &blob) {
    manifest.ranges.push_back({blob.size("offset"), blob.size("bytes")});
  };
  readList(fields, "sources", bundle.sources,
           [&](const Json &value, const std::string &where) -> Result<Source> {
             JsonFields blob(value, where);
             Source source;
             source.name = blob.text("name");
             source.lowering = blob.text("lowering");
             readList(blob, "arch", source.archs, readString);
             readRange(blob);
             if (Status status = blob.finish(); !status)
               return status.takeError();
             return source;
           });
  readList(
      fields, "code_objects", bundle.codeObjects,
      [&](const Json &value, const std::string &where) -> Result<CodeObject> {
        JsonFields blob(value, where);
        CodeObject object;
        object.source = readIndex(blob, "source");
        object.arch = blob.text("arch");
        readRange(blob);
        if (Status status = blob.finish(); !status)
          return status.takeError();
        return object;
      });
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return manifest;
}
