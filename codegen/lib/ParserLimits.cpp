// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "winnow/Codegen/ParserLimits.h"

#include <algorithm>
#include <array>

using namespace winnow;

namespace {

// Far above any description, and a small part of the usual 8 MiB of stack.
constexpr size_t kMostBrackets = 256;
constexpr size_t kLongestRun = 4096;

std::string at(std::string_view text, size_t offset, const std::string &what) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n');
  const size_t column =
      start == std::string_view::npos ? offset + 1 : offset - start;
  return std::to_string(line) + ":" + std::to_string(column) +
         ": error: " + what + "\n";
}

/// The first character after the string or comment at `i`, or `i` itself where
/// there is none.
size_t skipText(std::string_view text, size_t i) {
  if (text.substr(i, 2) == "//")
    return std::min(text.find('\n', i), text.size());
  if (text[i] != '"')
    return i;
  for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
    if (text[i] == '\\')
      ++i;
  return std::min(i + 1, text.size());
}

} // namespace

std::optional<std::string> winnow::findTooDeep(std::string_view text) {
  // For each open bracket, and for none: the characters since the last one
  // that no expression goes across.
  std::array<size_t, kMostBrackets + 1> run{};
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (const size_t next = skipText(text, i); next != i) {
      i = next - 1;
      continue;
    }
    const char c = text[i];
    const char after = i + 1 < text.size() ? text[i + 1] : '\0';
    if ((c == '-' && after == '>') ||
        ((c == '<' || c == '>') && after == '=')) {
      ++i; // an arrow or a comparison, no bracket
    } else if (std::string_view("([{<").find(c) != std::string_view::npos) {
      if (depth == kMostBrackets)
        return at(text, i,
                  "the text is nested in more than " +
                      std::to_string(kMostBrackets) + " brackets");
      run[++depth] = 0;
    } else if (std::string_view(")]}>").find(c) != std::string_view::npos) {
      depth -= depth > 0;
    } else if (std::string_view(",=:%@^\"").find(c) != std::string_view::npos) {
      run[depth] = 0;
    } else if (c > ' ' && ++run[depth] > kLongestRun) {
      return at(text, i,
                "more than " + std::to_string(kLongestRun) +
                    " characters without one of ,=:%@ between them");
    }
  }
  return std::nullopt;
}
