// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types to manifest JSON, field for field what ManifestReader.cpp reads.
#include "ManifestJson.h"
#include "Spellings.h"
#include "winnow/Runtime/Bundle.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

Json expressionJson(const Expression &expression) {
  switch (expression.kind) {
  case Expression::Kind::Constant:
    return expression.constant;
  case Expression::Kind::Symbol:
    return expression.symbol;
  default:
    return Json::array({std::string(operationName(expression.kind)),
                        expressionJson(expression.operands[0]),
                        expressionJson(expression.operands[1])});
  }
}

Json extentJson(const Extent &extent) {
  switch (extent.kind) {
  case Extent::Kind::Any:
    return nullptr;
  case Extent::Kind::Exactly:
    return expressionJson(extent.value);
  case Extent::Kind::AtLeast:
    return Json{{"min", expressionJson(extent.value)}};
  }
  return nullptr;
}

template <typename List, typename Write>
Json listJson(const List &list, Write write) {
  Json array = Json::array();
  for (const auto &element : list)
    array.push_back(write(element));
  return array;
}

Json axisJson(const std::string &tensor, int64_t axis) {
  return Json::array({tensor, axis});
}

Json argumentJson(const TensorArgument &argument) {
  Json json{{"name", argument.name},
            {"role", spelling(kRoles, argument.role)},
            {"dtype", spelling(kDTypes, argument.dtype)},
            {"access", spelling(kAccesses, argument.access)},
            {"shape", listJson(argument.shape, extentJson)},
            {"layout", spelling(kLayouts, argument.layout)}};
  if (argument.alignment != 0)
    json["alignment"] = argument.alignment;
  if (!argument.strides.empty())
    json["strides"] = listJson(argument.strides, [](int64_t stride) {
      return stride == kAnyStride ? Json(nullptr) : Json(stride);
    });
  return json;
}

Json workspaceJson(const WorkspaceTensor &tensor) {
  return Json{{"name", tensor.name},
              {"dtype", spelling(kDTypes, tensor.dtype)},
              {"shape", listJson(tensor.shape, expressionJson)}};
}

Json kernelArgumentJson(const KernelArgument &argument) {
  if (argument.kind == KernelArgument::Kind::Tensor)
    return Json{{"tensor", argument.tensor}};
  const bool isStride = argument.kind == KernelArgument::Kind::Stride;
  return Json{{isStride ? "stride" : "extent",
               axisJson(argument.tensor, argument.axis)}};
}

Json launchJson(const Launch &launch) {
  return Json{{"kernel", launch.kernel},
              {"source", launch.source},
              {"grid", listJson(launch.grid, expressionJson)},
              {"block", launch.block},
              {"dynamic_lds_bytes", launch.dynamicLdsBytes},
              {"arguments", listJson(launch.arguments, kernelArgumentJson)}};
}

Json stepJson(const Step &step) {
  return Json{{"operation", step.operation},
              {"operands", step.operands},
              {"sides", step.sides},
              {"block_size", step.blockSize}};
}

Json scheduleJson(const Schedule &schedule) {
  Json json{{"kernel", schedule.kernel}, {"parameters", schedule.parameters}};
  if (!schedule.from.empty())
    json["from"] = schedule.from;
  return json;
}

Json symbolsJson(const Entry &entry) {
  Json symbols = Json::object();
  for (const SymbolDefinition &definition : entry.symbols) {
    if (const auto *dim = std::get_if<ArgumentAxis>(&definition.source))
      symbols[definition.name] =
          Json{{"dim", axisJson(dim->argument, dim->axis)}};
    else
      symbols[definition.name] =
          expressionJson(std::get<Expression>(definition.source));
  }
  return symbols;
}

/// The contract's text as JSON of its own.
Result<Json> contractJson(const std::string &text, const std::string &where) {
  if (text.empty())
    return Json(nullptr);
  Result<Json> json = parseJson(text);
  if (!json)
    return Error{where + ": " + json.message()};
  if (!json->is_object())
    return Error{where + ": " + describe(*json) + ", wanted an object"};
  return json;
}

Result<Json> entryJson(const Entry &entry, const std::string &where) {
  Json facts = Json::object();
  for (const auto &[name, value] : entry.facts)
    std::visit([&](const auto &fact) { facts[name] = fact; }, value);
  Result<Json> contract = contractJson(entry.contract, where + ".contract");
  if (!contract)
    return contract;
  Result<Json> lowering =
      contractJson(entry.loweringContract, where + ".lowering.contract");
  if (!lowering)
    return lowering;
  Json bounds{{"max_seq_len", entry.maxSeqLen},
              {"max_requests", entry.maxRequests}};
  if (entry.maxQueryLen != 0)
    bounds["max_query_len"] = entry.maxQueryLen;
  if (entry.maxRows != 0)
    bounds["max_rows"] = entry.maxRows;
  Json json{{"name", entry.name},
            {"facts", std::move(facts)},
            {"contract", std::move(*contract)},
            {"lowering",
             {{"name", entry.lowering}, {"contract", std::move(*lowering)}}},
            {"bounds", std::move(bounds)},
            {"symbols", symbolsJson(entry)},
            {"arguments", listJson(entry.arguments, argumentJson)},
            {"workspace", listJson(entry.workspace, workspaceJson)},
            {"launches", listJson(entry.launches, launchJson)}};
  if (!entry.steps.empty())
    json["steps"] = listJson(entry.steps, stepJson);
  if (!entry.schedules.empty())
    json["schedules"] = listJson(entry.schedules, scheduleJson);
  return json;
}

} // namespace

Result<Json> runtime::manifestToJson(const Bundle &bundle,
                                     const std::vector<BlobRange> &ranges) {
  Json entries = Json::array();
  for (const Entry &entry : bundle.entries) {
    Result<Json> json =
        entryJson(entry, "entries[" + std::to_string(entries.size()) + "]");
    if (!json)
      return json;
    entries.push_back(std::move(*json));
  }
  size_t next = 0;
  Json sources = Json::array();
  for (const Source &source : bundle.sources) {
    const BlobRange &range = ranges[next++];
    sources.push_back(Json{{"name", source.name},
                           {"lowering", source.lowering},
                           {"arch", source.archs},
                           {"offset", range.offset},
                           {"bytes", range.bytes}});
  }
  Json objects = Json::array();
  for (const CodeObject &object : bundle.codeObjects) {
    const BlobRange &range = ranges[next++];
    objects.push_back(Json{{"source", object.source},
                           {"arch", object.arch},
                           {"offset", range.offset},
                           {"bytes", range.bytes}});
  }
  return Json{
      {"format", "winnow-bundle"},     {"version", kBundleVersion},
      {"generator", bundle.generator}, {"entries", std::move(entries)},
      {"sources", std::move(sources)}, {"code_objects", std::move(objects)}};
}
