// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nothing that a file holds reaches a terminal as an order.
#include "winnow/Runtime/Visible.h"

#include "Sample.h"
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace winnow;
using namespace winnow::runtime;
using testing::HasSubstr;

namespace {

TEST(Visible, OrdersToATerminalAreEscaped) {
  EXPECT_EQ(visible("\x1b[31mred\x1b]0;title\x07"),
            "\\x1b[31mred\\x1b]0;title\\x07");
  EXPECT_EQ(visible("a\rb\bc\x7f"), "a\\x0db\\x08c\\x7f");
  EXPECT_EQ(visible(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(visible("two\nlines\tand a tab"), "two\\nlines\\tand a tab");
  EXPECT_EQ(visibleLines("two\nlines\tand\r\n"), "two\nlines\tand\\x0d\n");
}

TEST(Visible, UnicodeThatShowsStays) {
  const std::string text = "größer, 漢字, \U0001f600, \\x1b as text";
  EXPECT_EQ(visible(text), text);
  // CSI as one character, an override of direction, a line separator, a mark.
  EXPECT_EQ(visible("\u009b31m\u202e\u2028\ufeff"),
            "\\u{9b}31m\\u{202e}\\u{2028}\\u{feff}");
}

TEST(Visible, BytesThatAreNoUtf8AreNamed) {
  // CSI as one byte; overlong; a surrogate; past the last; cut off.
  EXPECT_EQ(visible("\x9b"
                    "31m"),
            "\\x9b31m");
  EXPECT_EQ(visible("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(visible("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
  EXPECT_EQ(visible("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(visible("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(visible("a\xe6\xbc"), "a\\xe6\\xbc");
}

TEST(Visible, NothingRandomGetsThrough) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 12, ' ');
    for (char &c : text)
      c = static_cast<char>(random());
    const std::string shown = visible(text);
    EXPECT_TRUE(std::all_of(shown.begin(), shown.end(), [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte >= 0x20 && byte != 0x7f;
    }));
    // What is shown is UTF-8 with nothing left to escape.
    EXPECT_EQ(visible(shown), shown);
  }
}

TEST(Visible, ErrorsOfBundlesQuoteWhatTheyFound) {
  Bundle bundle = sampleBundle();
  bundle.entries[0].launches[0].kernel = "a\x1b[31m\nb";
  EXPECT_THAT(writeBundle(bundle).message(),
              HasSubstr("'a\\x1b[31m\\nb' is not an identifier"));
  bundle = sampleBundle();
  bundle.entries[0].launches[0].arguments[0].tensor = "\x1b[2J";
  EXPECT_THAT(writeBundle(bundle).message(),
              HasSubstr("unknown tensor '\\x1b[2J'"));
}

TEST(Visible, PlansTellOfRefusalsOnOneLine) {
  PlanReport report;
  report.entry = "m3_decode";
  report.device = "sim:gfx950";
  report.lowering = "generic";
  report.refused = {{"mfma", {"limit\x1b[2J\nwinnow: all is well", "\u009b"}}};
  EXPECT_THAT(report.line(), HasSubstr("not mfma: limit\\x1b[2J winnow: all is "
                                       "well | \\u{9b}"));
  EXPECT_THAT(report.text(), HasSubstr("limit\\x1b[2J\n"));
  EXPECT_THAT(report.json(), HasSubstr("limit\\u001b[2J\\nwinnow"));
  EXPECT_THAT(report.json(), HasSubstr("\"\\u009b\""));
}

} // namespace
