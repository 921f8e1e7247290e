// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A caller's tensors: what is accepted, and how each mistake is answered.
#include "Sample.h"
#include "winnow/Runtime/Bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::HasSubstr;

namespace {

enum { kQuery, kKeys, kTable, kLens, kIdx };

/// What bindArguments says about the sample arguments after a change.
template <typename Change> std::string after(Change change) {
  std::vector<TensorView> tensors = sampleArguments();
  change(tensors);
  Result<Symbols> symbols = bindArguments(sampleEntry(), tensors);
  return symbols ? "accepted" : symbols.message();
}

TEST(Tensors, BindsTheSymbolsOfTheCall) {
  Result<Symbols> symbols = bindArguments(sampleEntry(), sampleArguments());
  ASSERT_TRUE(symbols) << symbols.message();
  EXPECT_EQ(*symbols, (Symbols{{"requests", 2}, {"rows", 4}}));
}

TEST(Tensors, EachMistakeIsNamed) {
  using Tensors = std::vector<TensorView>;
  EXPECT_EQ(after([](Tensors &t) { t.pop_back(); }),
            "'m3_decode' got 4 arguments, wanted 5");
  EXPECT_EQ(after([](Tensors &t) { t[kKeys].dtype = DType::BF16; }),
            "argument 'keys': dtype bf16, wanted f8E4M3FN");
  EXPECT_EQ(after([](Tensors &t) { t[kKeys].rank = 2; }),
            "argument 'keys': 2 axes, wanted 3");
  EXPECT_EQ(after([](Tensors &t) { t[kQuery].extents[0] = 5; }),
            "argument 'q': axis 0 has 5 entries, wanted 4 (rows)");
  EXPECT_EQ(after([](Tensors &t) { t[kQuery].extents[0] = -5; }),
            "argument 'q': axis 0 has -5 entries, wanted at least 0");
  EXPECT_EQ(after([](Tensors &t) {
              t[kQuery] =
                  TensorView::dense(0x10000, DType::F8E4M3FN, {4, 1, 64});
            }),
            "argument 'q': axis 2 has 64 entries, wanted 128");
  EXPECT_EQ(after([](Tensors &t) { t[kTable].extents[0] = 1; }),
            "argument 'index_table': axis 0 has 1 entries, wanted at least 2 "
            "(requests)");
  EXPECT_EQ(after([](Tensors &t) { t[kTable].extents[1] = 8191; }),
            "argument 'index_table': axis 1 has 8191 entries, wanted at least "
            "8192");
  EXPECT_EQ(after([](Tensors &t) { t[kLens].address = 0; }),
            "argument 'lens': a null address for shape [2]");
  EXPECT_EQ(after([](Tensors &t) { t[kLens].address = 0x30002; }),
            "argument 'lens': the address is 2 bytes past a multiple of 4, "
            "wanted it aligned");
  EXPECT_EQ(after([](Tensors &t) { t[kKeys].address += 8; }),
            "argument 'keys': the address is 8 bytes past a multiple of 16, "
            "wanted it aligned");
}

TEST(Tensors, AnArgumentMayStateItsAlignment) {
  Entry entry = sampleEntry();
  entry.arguments[kKeys].alignment = 1;
  entry.arguments[kLens].alignment = 64;
  std::vector<TensorView> tensors = sampleArguments();
  tensors[kLens].address = 0x30000;
  tensors[kKeys].address += 3;
  Result<Symbols> symbols = bindArguments(entry, tensors);
  EXPECT_TRUE(symbols) << symbols.message();
  tensors[kLens].address += 32;
  symbols = bindArguments(entry, tensors);
  ASSERT_FALSE(symbols);
  EXPECT_EQ(symbols.message(),
            "argument 'lens': the address is 32 bytes past a "
            "multiple of 64, wanted it aligned");

  // It travels in the manifest, which refuses what is no alignment.
  Bundle bundle = sampleBundle();
  bundle.entries[0].arguments[kKeys].alignment = 4;
  Result<std::vector<std::byte>> bytes = writeBundle(bundle);
  ASSERT_TRUE(bytes) << bytes.message();
  Result<Bundle> back = readBundle(*bytes);
  ASSERT_TRUE(back) << back.message();
  EXPECT_EQ(*back, bundle);
  bundle.entries[0].arguments[kKeys].alignment = 12;
  Status status = validate(bundle);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), HasSubstr("12 is no power of two"));
}

TEST(Tensors, Layouts) {
  using Tensors = std::vector<TensorView>;
  EXPECT_EQ(after([](Tensors &t) { t[kKeys].strides[0] = 32768; }),
            "argument 'keys': strides [32768, 128, 1], wanted a contiguous "
            "tensor of shape [77, 128, 128]");
  EXPECT_EQ(after([](Tensors &t) { t[kTable].strides = {18000, 2}; }),
            "argument 'index_table': strides [18000, 2], wanted the last axis "
            "contiguous (stride 1)");
  EXPECT_EQ(after([](Tensors &t) { t[kTable].strides[0] = -9000; }),
            "argument 'index_table': strides [-9000, 1], wanted none below 0");
  // One table for every request may be read, but no two outputs share a row.
  EXPECT_EQ(after([](Tensors &t) { t[kTable].strides[0] = 0; }), "accepted");
  EXPECT_EQ(after([](Tensors &t) { t[kIdx].strides[1] = 15; }),
            "argument 'idx': strides [1000, 15, 1] of shape [1, 4, 16] make "
            "entries of an output overlap");
  // The stride of an axis with one entry says nothing.
  EXPECT_EQ(after([](Tensors &t) { t[kQuery].strides[1] = 12345; }),
            "accepted");
  EXPECT_EQ(after([](Tensors &t) { t[kIdx].strides[0] = 0; }), "accepted");
}

TEST(Tensors, StridesThatTheDescriptionFixes) {
  Entry entry = sampleEntry();
  entry.arguments[kTable].strides = {9000, 1};
  entry.arguments[kIdx].strides = {kAnyStride, 48, 1};
  entry.arguments[kKeys].layout = Layout::Rows;
  entry.arguments[kKeys].strides = {kAnyStride, 256, 1};
  std::vector<TensorView> tensors = sampleArguments();
  tensors[kKeys].strides = {40000, 256, 1};
  auto said = [&] {
    Result<Symbols> symbols = bindArguments(entry, tensors);
    return symbols ? "accepted" : symbols.message();
  };
  EXPECT_EQ(said(), "accepted");
  tensors[kKeys].strides[1] = 128;
  EXPECT_EQ(said(), "argument 'keys': strides [40000, 128, 1], wanted [any, "
                    "256, 1], which the description fixes");
  tensors[kKeys].strides[1] = 256;
  tensors[kTable].strides[0] = 9008;
  EXPECT_EQ(said(), "argument 'index_table': strides [9008, 1], wanted [9000, "
                    "1], which the description fixes");
  // One row has no step to the next.
  entry.arguments[kTable].shape[0] = Extent::any();
  tensors[kTable].extents[0] = 1;
  EXPECT_EQ(said(), "accepted");
  tensors[kIdx].strides = {1000, 64, 1};
  EXPECT_THAT(said(), HasSubstr("argument 'idx': strides [1000, 64, 1], wanted "
                                "[any, 48, 1]"));
}

TEST(Tensors, TokenMajorSlicesAreOutputsToo) {
  Entry entry = sampleEntry();
  entry.arguments[kIdx].shape[0] = exactly(2);
  std::vector<TensorView> tensors = sampleArguments();
  tensors[kIdx].extents[0] = 2;
  // [N, H, K] seen as [H, N, K]: the head's stride is the smaller one.
  tensors[kIdx].strides = {16, 32, 1};
  EXPECT_TRUE(bindArguments(entry, tensors));
  tensors[kIdx].strides = {16, 31, 1};
  EXPECT_FALSE(bindArguments(entry, tensors));
}

TEST(Tensors, Bounds) {
  std::vector<TensorView> tensors = sampleArguments();
  auto resize = [&](int64_t requests) {
    tensors[kQuery] =
        TensorView::dense(0x10000, DType::F8E4M3FN, {requests * 2, 1, 128});
    tensors[kLens] = TensorView::dense(0x30004, DType::I32, {requests});
    tensors[kTable] = TensorView::dense(0x90000, DType::I32, {requests, 8192});
    tensors[kIdx] =
        TensorView::dense(0x40000, DType::I32, {1, requests * 2, 16});
  };
  resize(256);
  EXPECT_TRUE(bindArguments(sampleEntry(), tensors));
  resize(257);
  EXPECT_EQ(bindArguments(sampleEntry(), tensors).message(),
            "'m3_decode' got 257 requests, it was built for at most 256 "
            "(max_requests)");
  // No requests: nothing is addressed, so null is fine.
  resize(0);
  for (int i : {kQuery, kLens, kTable, kIdx})
    tensors[i].address = 0;
  EXPECT_TRUE(bindArguments(sampleEntry(), tensors));
}

TEST(Tensors, SizesPastEveryInteger) {
  std::vector<TensorView> tensors = sampleArguments();
  // Past 2^32 bytes is an ordinary cache.
  tensors[kKeys] =
      TensorView::dense(0x20000, DType::F8E4M3FN, {1 << 20, 128, 128});
  EXPECT_TRUE(bindArguments(sampleEntry(), tensors));
  EXPECT_EQ(*byteSpan(tensors[kKeys]), uint64_t(1) << 34);
  tensors[kKeys] =
      TensorView::dense(0x20000, DType::F8E4M3FN, {INT64_MAX / 2, 128, 128});
  EXPECT_THAT(bindArguments(sampleEntry(), tensors).message(),
              HasSubstr("argument 'keys': shape [4611686018427387903, 128, "
                        "128] does not fit 64 bits"));
  tensors = sampleArguments();
  tensors[kTable].strides[0] = INT64_MAX;
  EXPECT_THAT(bindArguments(sampleEntry(), tensors).message(),
              HasSubstr("argument 'index_table': shape [3, 9000] with strides "
                        "[9223372036854775807, 1] does not fit 64 bits"));
}

TEST(Tensors, ByteSpanCountsFirstToLast) {
  TensorView view = TensorView::dense(0, DType::I32, {2, 3});
  EXPECT_EQ(*byteSpan(view), 24u);
  view.strides[0] = 10;
  EXPECT_EQ(*byteSpan(view), 52u);
  view.extents[0] = 0;
  EXPECT_EQ(*byteSpan(view), 0u);
  view.extents[0] = -1;
  EXPECT_FALSE(byteSpan(view));
}

} // namespace
