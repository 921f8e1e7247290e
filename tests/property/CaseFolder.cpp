// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CaseFolder.h"

#include "winnow/Runtime/Files.h"

#include <nlohmann/json.hpp>

using namespace winnow;
using namespace winnow::test;
using Json = nlohmann::json;

namespace {

constexpr char kFile[] = "/cases.json";
constexpr int kFormat = 1;
constexpr uint64_t kMaxBytes = uint64_t(256) << 20;

Json toJson(const Inputs &inputs) {
  return {{"seed", inputs.seed},
          {"tokens", inputs.lengths.tokens},
          {"new_tokens", inputs.lengths.newTokens},
          {"keys", static_cast<int>(inputs.keys)},
          {"queries", static_cast<int>(inputs.queries)},
          {"unmapped", inputs.unmapped},
          {"shared_pages", inputs.sharedPages},
          {"padding_rows", inputs.paddingRows},
          {"scores", static_cast<int>(inputs.scores)}};
}

/// A number that stands for a name; out of range it is the first.
template <typename Enum> Enum named(const Json &number, Enum last) {
  const int value = number.get<int>();
  return value >= 0 && value <= static_cast<int>(last)
             ? static_cast<Enum>(value)
             : static_cast<Enum>(0);
}

Inputs inputsOf(const Json &json) {
  Inputs inputs;
  inputs.seed = json.at("seed");
  inputs.lengths.tokens = json.at("tokens").get<std::vector<int32_t>>();
  inputs.lengths.newTokens = json.at("new_tokens").get<std::vector<int32_t>>();
  inputs.keys = named(json.at("keys"), kLastValues);
  inputs.queries = named(json.at("queries"), kLastValues);
  inputs.unmapped = json.at("unmapped");
  inputs.sharedPages = json.at("shared_pages");
  inputs.paddingRows = json.at("padding_rows");
  inputs.scores = named(json.at("scores"), kLastScores);
  return inputs;
}

FolderCase caseOf(const Json &json) {
  FolderCase made;
  made.seed = json.at("seed");
  made.variant = json.at("variant");
  made.bundle = json.at("bundle");
  made.lowering = json.at("lowering");
  made.shape = json.at("shape");
  for (const Json &each : json.at("inputs"))
    made.inputs.push_back(inputsOf(each));
  return made;
}

} // namespace

Status CaseFolder::write(const std::string &folder) const {
  Json list = Json::array();
  for (const FolderCase &each : cases) {
    Json inputs = Json::array();
    for (const Inputs &one : each.inputs)
      inputs.push_back(toJson(one));
    list.push_back({{"seed", each.seed},
                    {"variant", each.variant},
                    {"bundle", each.bundle},
                    {"lowering", each.lowering},
                    {"shape", each.shape},
                    {"inputs", inputs}});
  }
  const Json all = {{"format", kFormat}, {"arch", arch}, {"cases", list}};
  return runtime::writeFileAtomically(folder + kFile, all.dump() + "\n");
}

Result<CaseFolder> CaseFolder::read(const std::string &folder) {
  Result<std::vector<std::byte>> bytes =
      runtime::readFile(folder + kFile, kMaxBytes);
  if (!bytes)
    return bytes.takeError();
  const auto *text = reinterpret_cast<const char *>(bytes->data());
  try {
    const Json all = Json::parse(text, text + bytes->size());
    if (all.at("format") != kFormat)
      return Error{folder + kFile + ": format " + all.at("format").dump() +
                   ", wanted " + std::to_string(kFormat)};
    CaseFolder read;
    read.arch = all.at("arch");
    for (const Json &each : all.at("cases"))
      read.cases.push_back(caseOf(each));
    return read;
  } catch (const Json::exception &problem) {
    return Error{folder + kFile + ": " + problem.what()};
  }
}
