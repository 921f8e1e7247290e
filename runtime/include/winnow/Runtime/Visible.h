// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text out of a file, made fit for a terminal or a log. A bundle, a cache entry
// or a description may come from anybody, and a terminal takes orders from
// control characters.
#ifndef WINNOW_RUNTIME_VISIBLE_H
#define WINNOW_RUNTIME_VISIBLE_H

#include <string>
#include <string_view>

namespace winnow::runtime {

/// The text with everything as an escape that a terminal would not show as a
/// character: control characters (C0, DEL, C1) and bytes that are no UTF-8 as
/// \x1b, separators and directions of Unicode, which move other text, as
/// \u{202e}. A newline is \n, a tab \t. A backslash stays one: the result is
/// for people to read.
std::string visible(std::string_view text);

/// The same of a text of several lines: newlines and tabs stay.
std::string visibleLines(std::string_view text);

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_VISIBLE_H
