// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is shown of a text's code points, and what only named.
#include "winnow/Runtime/Visible.h"

#include <cstdint>
#include <cstdio>

using namespace winnow;

namespace {

/// The code point that starts `text` and how many bytes it takes; no UTF-8 has
/// a length of 0 (RFC 3629, section 4: neither overlong forms nor surrogates).
struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;
};

CodePoint firstOf(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80)
    return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes)
    return {};
  uint32_t value = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80)
      return {};
    value = value << 6 | (next & 0x3f);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < least[bytes] || value > 0x10ffff ||
      (value >= 0xd800 && value <= 0xdfff))
    return {};
  return {value, bytes};
}

/// C1 controls, and what moves or hides the text around it: marks, embeddings,
/// overrides and isolates of direction (Unicode's UAX #9), line and paragraph
/// separators, the byte order mark.
bool isHidden(uint32_t value) {
  return (value >= 0x80 && value <= 0x9f) || value == 0x61c ||
         value == 0x200e || value == 0x200f ||
         (value >= 0x2028 && value <= 0x202e) ||
         (value >= 0x2066 && value <= 0x2069) || value == 0xfeff;
}

std::string escaped(std::string_view text, bool keepsLines) {
  std::string shown;
  shown.reserve(text.size());
  char escape[16];
  while (!text.empty()) {
    const CodePoint point = firstOf(text);
    const char c = text[0];
    if (point.bytes == 0) {
      std::snprintf(escape, sizeof escape, "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      shown += escape;
    } else if (c == '\n' || c == '\t') {
      if (keepsLines)
        shown += c;
      else
        shown += c == '\n' ? "\\n" : "\\t";
    } else if (point.value < 0x20 || point.value == 0x7f) {
      std::snprintf(escape, sizeof escape, "\\x%02x",
                    static_cast<unsigned>(point.value));
      shown += escape;
    } else if (isHidden(point.value)) {
      std::snprintf(escape, sizeof escape, "\\u{%x}",
                    static_cast<unsigned>(point.value));
      shown += escape;
    } else {
      shown += text.substr(0, point.bytes);
    }
    text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
  return shown;
}

} // namespace

std::string runtime::visible(std::string_view text) {
  return escaped(text, /*keepsLines=*/false);
}

std::string runtime::visibleLines(std::string_view text) {
  return escaped(text, /*keepsLines=*/true);
}
