// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the tools print: whatever text of a file is in it, a terminal is never
// given orders by it.
#ifndef WINNOW_TOOL_PRINT_H
#define WINNOW_TOOL_PRINT_H

#include "winnow/Runtime/Visible.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace winnow::tool {

/// Prints what fmt makes of the arguments, with control characters escaped but
/// newlines and tabs. Text that has to stay on its line is given as
/// runtime::visible(). A write that fails shows when the stream is flushed.
template <typename... Arguments>
void say(std::FILE *to, fmt::format_string<Arguments...> format,
         Arguments &&...arguments) {
  const std::string text = runtime::visibleLines(
      fmt::format(format, std::forward<Arguments>(arguments)...));
  std::fwrite(text.data(), 1, text.size(), to);
}

template <typename... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
  say(stdout, format, std::forward<Arguments>(arguments)...);
}

/// JSON for a terminal or another program: whatever is no ASCII is escaped.
template <typename Json> std::string jsonText(const Json &json) {
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace);
}

} // namespace winnow::tool

#endif // WINNOW_TOOL_PRINT_H
