// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// remap_pages: page tables and context lengths worked by hand.
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow::reference;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// One request; block size 4, two pages a block, one kv head, unless said.
struct Remap {
  Lengths lengths;
  Tensor<int32_t, 3> selection;
  Tensor<int32_t, 2> table;
  RemapOptions options{.pagesPerBlock = 2, .kvHeads = 1, .pad = 0};
  int64_t queryLen = 1, blockSize = 4;
  std::vector<int32_t> pages = {}, contexts = {};

  Problem run() {
    Rows rows = lengths.rows(queryLen, blockSize);
    const int64_t out = rows.rows() * options.kvHeads;
    const int64_t width = selection.extents[2] * options.pagesPerBlock;
    pages.assign(out * width, -77);
    contexts.assign(out, -77);
    return remapPages(
        rows, static_cast<const Tensor<int32_t, 3> &>(selection).view(),
        static_cast<const Tensor<int32_t, 2> &>(table).view(), options,
        {pages.data(), {out, width}}, {contexts.data(), {out}});
  }
};

TEST(RemapPages, FullBlocksInOrderThenTheTail) {
  // 14 tokens: blocks 0..3, self = 3 with two tokens. The tail came first by
  // score, yet it is packed last.
  Remap remap{{{14}}, {{1, 1, 3}, {3, 0, 2}}, {{1, 4}, {10, 11, 12, 13}}};
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(20, 21, 24, 25, 26, 27));
  EXPECT_THAT(remap.contexts, ElementsAre(4 + 4 + 2));
}

TEST(RemapPages, TailInTheMiddleMovesAndOthersKeepTheirOrder) {
  Remap remap{{{14}}, {{1, 1, 4}, {2, 3, 0, 1}}, {{1, 4}, {10, 11, 12, 13}}};
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(24, 25, 20, 21, 22, 23, 26, 27));
  EXPECT_THAT(remap.contexts, ElementsAre(14));
}

TEST(RemapPages, TailNotSelected) {
  Remap remap{{{14}}, {{1, 1, 3}, {2, 0, -1}}, {{1, 4}, {10, 11, 12, 13}}};
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(24, 25, 20, 21, 0, 0));
  EXPECT_THAT(remap.contexts, ElementsAre(8));
}

TEST(RemapPages, AFullTailBlockCountsWhole) {
  // 16 tokens: self = 3 holds four.
  Remap remap{{{16}}, {{1, 1, 2}, {3, 1}}, {{1, 4}, {10, 11, 12, 13}}};
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(22, 23, 26, 27));
  EXPECT_THAT(remap.contexts, ElementsAre(8));
}

TEST(RemapPages, ShortContextAndPad) {
  Remap remap{{{1}}, {{1, 1, 3}, {0, -1, -1}}, {{1, 4}, {10, 11, 12, 13}}};
  remap.options.pad = -1;
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(20, 21, -1, -1, -1, -1));
  EXPECT_THAT(remap.contexts, ElementsAre(1));
}

TEST(RemapPages, PaddingRowsAreAllPadAndNeverLookedUp) {
  // The middle request is empty: its selection and its table are garbage.
  Remap remap{{{4, 0, 5}},
              {{1, 3, 2}, {0, -1, 5, 9, 1, 0}},
              {{3, 2}, {3, 4, -8, 2000000000, 6, 7}}};
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(6, 7, 0, 0, 0, 0, 0, 0, 12, 13, 14, 15));
  EXPECT_THAT(remap.contexts, ElementsAre(4, 0, 5));
}

TEST(RemapPages, BlocksPastTheRowsOwnEndAreDropped) {
  Remap remap{{{5}}, {{1, 1, 3}, {7, 0, -2}}, {{1, 2}, {10, 11}}};
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(20, 21, 0, 0, 0, 0));
  EXPECT_THAT(remap.contexts, ElementsAre(4));
}

TEST(RemapPages, NegativeEntriesAreDropped) {
  Remap remap{{{14}}, {{1, 1, 4}, {3, 1, 0, 2}}, {{1, 4}, {10, -1, 12, 13}}};
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(20, 21, 24, 25, 26, 27, 0, 0));
  EXPECT_THAT(remap.contexts, ElementsAre(10));

  // A tail without a page is not selected: the context counts full blocks.
  remap.table.values = {10, 11, 12, -4};
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(22, 23, 20, 21, 24, 25, 0, 0));
  EXPECT_THAT(remap.contexts, ElementsAre(12));
}

TEST(RemapPages, TwoKvHeadsOfOneIndexHead) {
  // page * P * G + g + j * G with P = 2, G = 2.
  Remap remap{{{5}}, {{1, 1, 2}, {1, 0}}, {{1, 2}, {10, 11}}};
  remap.options.kvHeads = 2;
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(40, 42, 44, 46, 41, 43, 45, 47));
  EXPECT_THAT(remap.contexts, ElementsAre(5, 5));
}

TEST(RemapPages, FourKvHeadsOfTwoIndexHeads) {
  // Head 0 serves kv heads 0 and 1, head 1 serves 2 and 3. P = 1, K = 1.
  Remap remap{{{8}}, {{2, 1, 1}, {0, 1}}, {{1, 2}, {10, 20}}};
  remap.options = {.pagesPerBlock = 1, .kvHeads = 4, .pad = 0};
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(40, 41, 82, 83));
  EXPECT_THAT(remap.contexts, ElementsAre(4, 4, 4, 4));
}

TEST(RemapPages, RowsOfARequestHaveTheirOwnTail) {
  // L = 5, Q = 2: row 0 sees 4 tokens (self = 0, full), row 1 five (self = 1).
  Remap remap{{{5}}, {{1, 2, 2}, {0, -1, 1, 0}}, {{1, 2}, {10, 11}}};
  remap.queryLen = 2;
  ASSERT_EQ(remap.run(), std::nullopt);
  EXPECT_THAT(remap.pages, ElementsAre(20, 21, 0, 0, 20, 21, 22, 23));
  EXPECT_THAT(remap.contexts, ElementsAre(4, 5));
}

TEST(RemapPages, RefusesWithoutWriting) {
  Remap heads{{{4}}, {{2, 1, 1}, {0, 0}}, {{1, 1}, {3}}};
  heads.options.kvHeads = 3;
  EXPECT_THAT(heads.run().value_or(""),
              HasSubstr("kv_heads is 3, wanted a positive multiple of the 2"));
  Remap large{{{4}}, {{1, 1, 1}, {0}}, {{1, 1}, {1 << 30}}};
  EXPECT_THAT(large.run().value_or(""),
              HasSubstr("attn_table[0, 0] is page 1073741824: times 2 it does "
                        "not fit"));
  EXPECT_THAT(large.pages, Each(-77));
  Remap largest{{{4}}, {{1, 1, 1}, {0}}, {{1, 1}, {(1 << 30) - 1}}};
  ASSERT_EQ(largest.run(), std::nullopt);
  EXPECT_THAT(largest.pages, ElementsAre(2147483646, 2147483647));
}

} // namespace
