// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounded JSON parsing and strict field access.
#include "JsonFields.h"

#include "winnow/Runtime/Visible.h"

#include <algorithm>
#include <set>

using namespace winnow;
using namespace winnow::runtime;

namespace {

/// nlohmann's parser keeps the last of two equal keys and takes any depth; this
/// watches its events for both.
class Watcher {
public:
  bool operator()(int depth, Json::parse_event_t event, Json &parsed) {
    using Event = Json::parse_event_t;
    if (depth > kMaxJsonDepth) {
      note("nested deeper than " + std::to_string(kMaxJsonDepth));
      return false;
    }
    switch (event) {
    case Event::object_start:
      keys.emplace_back();
      break;
    case Event::object_end:
      if (!keys.empty())
        keys.pop_back();
      break;
    case Event::key: {
      const std::string &key = parsed.get_ref<const std::string &>();
      if (!keys.empty() && !keys.back().insert(key).second)
        note("the key '" + visible(key.substr(0, 80)) +
             "' stands twice in one object");
      break;
    }
    default:
      break;
    }
    return true;
  }
  void note(std::string what) {
    if (problem.empty())
      problem = std::move(what);
  }

  std::vector<std::set<std::string>> keys;
  std::string problem;
};

/// A SAX reader that only remembers where the parser gave up: the parser itself
/// says so by exception or not at all.
struct ErrorPosition : nlohmann::json_sax<Json> {
  size_t position = 0;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t &) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t where, const std::string &,
                   const Json::exception &) override {
    position = where;
    return false;
  }
};

} // namespace

Result<Json> runtime::parseJson(std::string_view text) {
  Watcher watcher;
  // No exceptions for bad text; memory is bounded by the text's own size.
  Json parsed = Json::parse(
      text.begin(), text.end(),
      [&](int depth, Json::parse_event_t event, Json &value) {
        return watcher(depth, event, value);
      },
      /*allow_exceptions=*/false);
  if (!watcher.problem.empty())
    return Error{"not a valid JSON text: " + watcher.problem};
  if (parsed.is_discarded()) {
    ErrorPosition error;
    Json::sax_parse(text.begin(), text.end(), &error);
    return Error{"not a valid JSON text: wrong at byte " +
                 std::to_string(error.position) + " of " +
                 std::to_string(text.size())};
  }
  return parsed;
}

std::string runtime::describe(const Json &value) {
  if (value.is_string()) {
    const std::string &text = value.get_ref<const std::string &>();
    return "the string '" + visible(text.substr(0, 80)) +
           (text.size() > 80 ? "...'" : "'");
  }
  if (value.is_number_unsigned())
    return "the number " + std::to_string(value.get<uint64_t>());
  if (value.is_number_integer())
    return "the number " + std::to_string(value.get<int64_t>());
  if (value.is_number())
    return "the number " + std::to_string(value.get<double>());
  if (value.is_boolean())
    return value.get<bool>() ? "true" : "false";
  if (value.is_array())
    return "an array of " + std::to_string(value.size());
  if (value.is_object())
    return "an object";
  return "null";
}

JsonFields::JsonFields(const Json &value, std::string where)
    : value(value), where(std::move(where)) {
  if (!value.is_object())
    error = Error{this->where + ": " + describe(value) + ", wanted an object"};
}

const Json *JsonFields::optional(const char *field) {
  asked.push_back(field);
  if (error)
    return nullptr;
  auto found = value.find(field);
  return found == value.end() ? nullptr : &*found;
}

const Json *JsonFields::any(const char *field) {
  const Json *found = optional(field);
  if (!found && !error)
    error = Error{where + ": the field '" + field + "' is missing"};
  return found;
}

std::string JsonFields::text(const char *field) {
  const Json *found = any(field);
  if (!found)
    return {};
  if (!found->is_string()) {
    fail(field, describe(*found) + ", wanted a string");
    return {};
  }
  return found->get_ref<const std::string &>();
}

int64_t JsonFields::integer(const char *field) {
  const Json *found = any(field);
  if (!found)
    return 0;
  // An unsigned number past int64 would wrap.
  if (!found->is_number_integer() ||
      (found->is_number_unsigned() &&
       found->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))) {
    fail(field, describe(*found) + ", wanted a whole number");
    return 0;
  }
  return found->get<int64_t>();
}

uint64_t JsonFields::size(const char *field) {
  int64_t found = integer(field);
  if (found < 0) {
    fail(field, std::to_string(found) + ", wanted at least 0");
    return 0;
  }
  return static_cast<uint64_t>(found);
}

std::vector<const Json *> JsonFields::array(const char *field) {
  std::vector<const Json *> elements;
  const Json *found = any(field);
  if (!found)
    return elements;
  if (!found->is_array()) {
    fail(field, describe(*found) + ", wanted an array");
    return elements;
  }
  for (const Json &element : *found)
    elements.push_back(&element);
  return elements;
}

void JsonFields::fail(const std::string &field, const std::string &what) {
  fail(Error{where + "." + field + ": " + what});
}

void JsonFields::fail(Error problem) {
  if (!error)
    error = std::move(problem);
}

Status JsonFields::finish() {
  if (error)
    return *error;
  for (const auto &[key, unused] : value.items())
    if (std::find(asked.begin(), asked.end(), key) == asked.end())
      return Error{where + ": unknown field '" + visible(key.substr(0, 80)) +
                   "'"};
  return {};
}

std::string JsonFields::place(const char *field, size_t index) const {
  return where + "." + field + "[" + std::to_string(index) + "]";
}
