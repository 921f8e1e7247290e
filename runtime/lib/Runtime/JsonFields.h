// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strict reading of a manifest's JSON: bounded, without exceptions, every field
// asked for by name, and the place of each error in it.
#ifndef WINNOW_LIB_RUNTIME_JSONFIELDS_H
#define WINNOW_LIB_RUNTIME_JSONFIELDS_H

#include "winnow/Runtime/Result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::runtime {

/// Ordered, so that symbols keep their order and files their look.
using Json = nlohmann::ordered_json;

inline constexpr int kMaxJsonDepth = 64;

/// Parses JSON; a nesting deeper than kMaxJsonDepth and a key that stands twice
/// in its object are errors, as is whatever is not JSON.
Result<Json> parseJson(std::string_view text);

/// "the string 'abc'", "the number 3", "an array": a value in an error.
std::string describe(const Json &value);

/// The object at `where` whose fields are read one by one. The first error is
/// kept and later reads answer with empty values, so that a reader asks for
/// everything and looks at `finish` once. A field that nobody asked for is an
/// error too: a misspelt one must not pass for an absent one.
class JsonFields {
public:
  JsonFields(const Json &value, std::string where);

  std::string text(const char *field);
  int64_t integer(const char *field);
  uint64_t size(const char *field); ///< an integer from 0 up
  /// The elements of an array.
  std::vector<const Json *> array(const char *field);
  /// Any value; null pointer after an error.
  const Json *any(const char *field);
  /// The same, null without an error where it is absent.
  const Json *optional(const char *field);

  void fail(const std::string &field, const std::string &what);
  void fail(Error error);
  Status finish();

  const std::string &place() const { return where; }
  /// "entries[0].launches" + "[2]".
  std::string place(const char *field, size_t index) const;

private:
  const Json &value;
  std::string where;
  std::vector<std::string_view> asked;
  std::optional<Error> error;
};

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_JSONFIELDS_H
