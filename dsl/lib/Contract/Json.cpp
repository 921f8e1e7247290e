// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See Json.h.
#include "Json.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>

namespace winnow::contract {

namespace {

bool isIdentifier(std::string_view text) {
  if (text.empty() || text.front() < 'a' || text.front() > 'z')
    return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool isPrintableAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

} // namespace

Result<Json> parseJson(std::string_view text, std::string_view source) {
  // nlohmann keeps one of two equal keys and says nothing: collect the keys of
  // every open object and remember the first that comes again.
  std::vector<std::set<std::string>> open;
  std::string doubled;
  auto callback = [&](int, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      open.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      open.pop_back();
    else if (event == Json::parse_event_t::key) {
      auto key = parsed.get<std::string>();
      if (!open.back().insert(key).second && doubled.empty())
        doubled = std::move(key);
    }
    return true;
  };
  try {
    Json json = Json::parse(text, callback);
    if (!doubled.empty())
      return Error{std::string(source) + ": field '" + doubled +
                   "' is there twice in one object"};
    return json;
  } catch (const std::exception &error) {
    return Error{std::string(source) + ": not JSON: " + error.what()};
  }
}

std::string describe(const Json &json) {
  if (json.is_string())
    return "\"" + json.get<std::string>() + "\"";
  if (json.is_number() || json.is_boolean())
    return json.dump();
  if (json.is_null())
    return "null";
  return json.is_array() ? "a list" : "an object";
}

bool toValue(const Json &json, Value &value) {
  if (json.is_boolean()) {
    value = json.get<bool>();
    return true;
  }
  if (json.is_string()) {
    value = json.get<std::string>();
    return true;
  }
  if (!json.is_number_integer())
    return false;
  // An unsigned number past int64 would come back negative.
  if (json.is_number_unsigned() &&
      json.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max()))
    return false;
  value = json.get<int64_t>();
  return true;
}

Json fromValue(const Value &value) {
  return std::visit([](const auto &v) { return Json(v); }, value);
}

Fields::Fields(const Json &json, std::string where)
    : json(json), where(std::move(where)) {
  if (!json.is_object())
    status =
        Error{this->where + ": found " + describe(json) + ", needed an object"};
}

void Fields::fail(std::string_view field, std::string_view what) {
  if (status)
    status = Error{where + ": field '" + std::string(field) + "' " +
                   std::string(what)};
}

const Json *Fields::get(std::string_view field, bool required) {
  asked.emplace_back(field);
  if (failed())
    return nullptr;
  auto it = json.find(std::string(field));
  if (it != json.end())
    return &*it;
  if (required)
    fail(field, "is missing");
  return nullptr;
}

std::string Fields::text(std::string_view field, bool required) {
  const Json *value = get(field, required);
  if (!value)
    return {};
  if (!value->is_string()) {
    fail(field, "is " + describe(*value) + ", needed a string");
    return {};
  }
  auto result = value->get<std::string>();
  if (result.empty() || !isPrintableAscii(result)) {
    fail(field, "needs one line of printable ASCII");
    return {};
  }
  return result;
}

std::string Fields::identifier(std::string_view field, bool required) {
  std::string result = text(field, required);
  if (!result.empty() && !isIdentifier(result)) {
    fail(field, "is \"" + result +
                    "\", needed lower case letters, digits and underscores");
    return {};
  }
  return result;
}

std::vector<std::string> Fields::identifiers(std::string_view field,
                                             bool required) {
  const Json *list = get(field, required);
  if (!list)
    return {};
  std::vector<std::string> result;
  bool good = list->is_array() && !list->empty();
  for (size_t i = 0; good && i < list->size(); ++i) {
    const Json &element = (*list)[i];
    good = element.is_string() && isIdentifier(element.get<std::string>());
    if (good)
      result.push_back(element.get<std::string>());
  }
  if (good)
    return result;
  fail(field, "is " + describe(*list) + ", needed a list of names");
  return {};
}

bool Fields::flag(std::string_view field, bool absent) {
  const Json *value = get(field, false);
  if (!value)
    return absent;
  if (value->is_boolean())
    return value->get<bool>();
  fail(field, "is " + describe(*value) + ", needed true or false");
  return absent;
}

Status Fields::finish() {
  if (failed())
    return status;
  for (const auto &item : json.items()) {
    if (std::find(asked.begin(), asked.end(), item.key()) != asked.end())
      continue;
    std::string known;
    for (const std::string &name : asked)
      known += (known.empty() ? "" : ", ") + name;
    fail(item.key(), "is not known, needed one of " + known);
    break;
  }
  return status;
}

} // namespace winnow::contract
