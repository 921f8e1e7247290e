// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CaseFolder.h"

#include "JsonFields.h"
#include "winnow/Runtime/Files.h"

#include <cstdint>
#include <optional>

using namespace winnow;
using namespace winnow::test;
using runtime::Json;

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

/// A whole number within [least, most], as JSON holds it.
std::optional<int64_t> numberIn(const Json &value, int64_t least,
                                int64_t most) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX))
    return std::nullopt;
  const auto number = value.get<int64_t>();
  if (number < least || number > most)
    return std::nullopt;
  return number;
}

std::string wantedText(const Json &found, int64_t least, int64_t most) {
  const std::string text = runtime::describe(found) + ", wanted ";
  if (least == most)
    return text + std::to_string(least);
  return text + "a whole number from " + std::to_string(least) + " to " +
         std::to_string(most);
}

/// One object of the file, with what the runtime's reader has no need of.
class Fields : public runtime::JsonFields {
public:
  using JsonFields::JsonFields;

  int64_t within(const char *field, int64_t least, int64_t most) {
    const Json *found = any(field);
    if (!found)
      return least;
    if (const auto number = numberIn(*found, least, most))
      return *number;
    fail(field, wantedText(*found, least, most));
    return least;
  }

  /// Every number of 64 bits is a seed.
  uint64_t seed() {
    const Json *found = any("seed");
    if (found && found->is_number_unsigned())
      return found->get<uint64_t>();
    if (found)
      fail("seed", runtime::describe(*found) +
                       ", wanted a whole number from 0 to 2^64 - 1");
    return 0;
  }

  bool flag(const char *field) {
    const Json *found = any(field);
    if (found && !found->is_boolean())
      fail(field, runtime::describe(*found) + ", wanted true or false");
    return found && found->is_boolean() && found->get<bool>();
  }

  std::vector<int32_t> numbers(const char *field, int64_t least) {
    std::vector<int32_t> numbers;
    for (const Json *each : array(field))
      if (const auto number = numberIn(*each, least, INT32_MAX))
        numbers.push_back(static_cast<int32_t>(*number));
      else
        fail(field + ("[" + std::to_string(numbers.size()) + "]"),
             wantedText(*each, least, INT32_MAX));
    return numbers;
  }

  /// A number that stands for a name.
  template <typename Enum> Enum named(const char *field, Enum last) {
    return static_cast<Enum>(within(field, 0, static_cast<int64_t>(last)));
  }
};

Result<Inputs> inputsOf(const Json &json, std::string where) {
  Fields fields(json, std::move(where));
  Inputs inputs;
  inputs.seed = fields.seed();
  // Lengths below 0 and past every bound are among what is tried.
  inputs.lengths.tokens = fields.numbers("tokens", INT32_MIN);
  inputs.lengths.newTokens = fields.numbers("new_tokens", 0);
  const size_t requests = inputs.lengths.tokens.size(),
               given = inputs.lengths.newTokens.size();
  if (given != 0 && given != requests)
    fields.fail("new_tokens", std::to_string(given) +
                                  " of them, wanted none or one for each of " +
                                  std::to_string(requests) + " requests");
  inputs.keys = fields.named("keys", kLastValues);
  inputs.queries = fields.named("queries", kLastValues);
  inputs.unmapped = fields.within("unmapped", 0, 100);
  inputs.sharedPages = fields.flag("shared_pages");
  inputs.paddingRows = fields.within("padding_rows", 0, INT32_MAX);
  inputs.scores = fields.named("scores", kLastScores);
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return inputs;
}

Result<FolderCase> caseOf(const Json &json, std::string where) {
  Fields fields(json, std::move(where));
  FolderCase made;
  made.seed = fields.seed();
  made.variant = static_cast<int>(fields.within("variant", 0, INT32_MAX));
  made.bundle = fields.text("bundle");
  if (made.bundle.empty() || made.bundle.find('/') != std::string::npos)
    fields.fail("bundle",
                "'" + made.bundle + "', wanted a file name of the folder");
  made.lowering = fields.text("lowering");
  made.shape = fields.text("shape");
  const std::vector<const Json *> all = fields.array("inputs");
  for (size_t i = 0; i < all.size(); ++i) {
    Result<Inputs> inputs = inputsOf(*all[i], fields.place("inputs", i));
    if (inputs)
      made.inputs.push_back(std::move(*inputs));
    else
      fields.fail(inputs.takeError());
  }
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return made;
}

Result<CaseFolder> folderOf(std::string_view text) {
  Result<Json> all = runtime::parseJson(text);
  if (!all)
    return all.takeError();
  Fields fields(*all, "the file");
  (void)fields.within("format", kFormat, kFormat);
  CaseFolder read;
  read.arch = fields.text("arch");
  const std::vector<const Json *> cases = fields.array("cases");
  for (size_t i = 0; i < cases.size(); ++i) {
    Result<FolderCase> made =
        caseOf(*cases[i], "cases[" + std::to_string(i) + "]");
    if (!made)
      return made.takeError();
    read.cases.push_back(std::move(*made));
  }
  if (Status status = fields.finish(); !status)
    return status.takeError();
  return read;
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
  Result<CaseFolder> read =
      folderOf({reinterpret_cast<const char *>(bytes->data()), bytes->size()});
  if (!read)
    return Error{folder + kFile + ": " + read.message()};
  return read;
}
