// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strict reading of the contract files: an object whose fields are each asked
// for by name, with errors that say which file, which limit and which field.
#ifndef WINNOW_LIB_CONTRACT_JSON_H
#define WINNOW_LIB_CONTRACT_JSON_H

#include "winnow/Contract/Facts.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace winnow::contract {

using Json = nlohmann::ordered_json;

/// Parses text, refusing what nlohmann lets pass: a key that is there twice.
/// Errors start with `source`.
Result<Json> parseJson(std::string_view text, std::string_view source);

/// What the value is, for errors: "a string", "the number 3".
std::string describe(const Json &json);

/// An int64, bool or string; nothing for anything else, floats and integers
/// past int64 included.
bool toValue(const Json &json, Value &value);
Json fromValue(const Value &value);

/// Reads an object's fields and keeps the first error. Once there is one, the
/// getters hand out empty values, so a reader may ask on and test at the end.
class Fields {
public:
  /// `where` starts every error: "aiter_msa.json: limit 'k'".
  Fields(const Json &json, std::string where);

  /// The field, or null if it is absent (an error if it is required).
  const Json *get(std::string_view field, bool required);

  /// One line of printable ASCII, so that it is the same bytes in a terminal, a
  /// C++ literal and a Markdown table.
  std::string text(std::string_view field, bool required);
  std::string identifier(std::string_view field, bool required);
  std::vector<std::string> identifiers(std::string_view field, bool required);
  bool flag(std::string_view field, bool absent);

  /// Notes an error on a field: "<where>: field '<field>' <what>".
  void fail(std::string_view field, std::string_view what);
  /// The first error, or one for a field that nobody asked for.
  Status finish();
  bool failed() const { return !status; }

private:
  const Json &json;
  std::string where;
  Status status;
  std::vector<std::string> asked;
};

} // namespace winnow::contract

#endif // WINNOW_LIB_CONTRACT_JSON_H
