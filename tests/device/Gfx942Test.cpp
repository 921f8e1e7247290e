// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gfx942's kernels, whose instructions gfx950 has too, compiled for gfx950 and
// run on the simulated device. That they compile for gfx942 itself, without
// spills, is a test of the device headers.
#include "RunDescription.h"

#include "winnow/Contract/Contract.h"

#include <algorithm>

using namespace winnow;
using namespace winnow::test;

namespace {

Shape decode(const char *dtype = "f8E4M3FN") {
  Shape shape;
  shape.arch = "gfx942";
  shape.dtype = dtype;
  return shape;
}

Shape prefill(const char *dtype = "f8E4M3FN") {
  Shape shape = decode(dtype);
  shape.queryLen = 0;
  return shape;
}

/// The bytes of the request's page for a block.
std::byte *pageOf(tool::Call &call, int64_t request, int64_t block) {
  const tool::Indexer &indexer = *call.indexer;
  int32_t page =
      call.arguments[indexer.indexTable].as<int32_t, 2>()(request, block);
  tool::HostTensor &keys = call.arguments[indexer.keys];
  return keys.bytes.data() + int64_t(page) * keys.view.strides[0];
}

void fill(tool::HostTensor &tensor, uint8_t code) {
  std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte(code));
}

constexpr uint8_t kOne = 0x38; // as e4m3

} // namespace

TEST(Gfx942, EmitsMatrixKernelsOfItsOwn) {
  Result<runtime::Bundle> bundle = emitKernels(decode(), "gfx942");
  ASSERT_TRUE(bundle) << bundle.message();
  const runtime::Entry &entry = bundle->entries.front();
  const runtime::Source &source = bundle->sources.front();
  EXPECT_EQ(entry.lowering, "mfma");
  EXPECT_EQ(source.archs, std::vector<std::string>{"gfx942"});
  EXPECT_NE(source.text.find("mfma_f32_16x16x16f16"), std::string::npos);
  EXPECT_EQ(source.text.find("f8f6f4"), std::string::npos);
  EXPECT_EQ(source.text.find("permlane"), std::string::npos);
  Result<contract::Contract> limits =
      contract::Contract::parse(entry.loweringContract, "the bundle");
  ASSERT_TRUE(limits) << limits.message();
  const contract::Limit *arch = limits->find("arch");
  ASSERT_TRUE(arch);
  EXPECT_EQ(arch->values, std::vector<contract::Value>{"gfx942"});
}

// A block for each code, in one element of its tokens' keys; a request for each
// code, in one element of its query.
TEST(Gfx942, EveryCodeOfE4M3) {
  Shape shape = decode();
  shape.maxSeqLen = 32768;
  shape.localBlocks = 0;
  expectRight(shape, {32768}, 1, [](tool::Call &call) {
    fill(call.arguments[call.indexer->query], kOne);
    fill(call.arguments[call.indexer->keys], 0);
    for (int code = 0; code < 256; ++code)
      for (int token = 0; token < 128; ++token)
        pageOf(call, 0, code)[token * 128 + (code * 37 + token) % 128] =
            std::byte(code);
  });
  shape.maxRequests = 256;
  expectRight(shape, std::vector<int32_t>(256, 128), 1, [](tool::Call &call) {
    fill(call.arguments[call.indexer->keys], kOne);
    tool::HostTensor &query = call.arguments[call.indexer->query];
    fill(query, 0);
    for (int code = 0; code < 256; ++code)
      query.bytes[code * 128 + code * 37 % 128] = std::byte(code);
  });
}

TEST(Gfx942, DecodeSplitsAndBlocks) {
  const std::pair<int, int> splits[] = {{1, 1}, {16, 1}, {2, 4}, {5, 2}};
  for (auto [heads, queryLen] : splits) {
    Shape shape = decode();
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.queryLen = queryLen;
    shape.blockSize = heads == 2 ? 256 : heads == 5 ? 32 : 128;
    shape.pagesPerBlock = shape.blockSize / 16;
    expectRight(shape, {0, 1, queryLen, 127 + queryLen, 700, 3000});
  }
}

TEST(Gfx942, SixteenBitElements) {
  for (const char *dtype : {"bf16", "f16"}) {
    expectRight(decode(dtype), {0, 1, 63, 129, 2049});
    expectRight(prefill(dtype), {{300, 0, 65}, {300, 0, 3}});
    // Denormal numbers, infinities and the largest numbers.
    const uint8_t exponent = dtype[0] == 'b' ? 0x7f : 0x7b;
    expectRight(decode(dtype), {400, 400}, 5, [&](tool::Call &call) {
      for (int dim = 0; dim < 256; dim += 2) {
        std::byte *denormal = pageOf(call, 0, 1) + 3 * 256 + dim;
        denormal[0] = std::byte(1);
        denormal[1] = std::byte(dim % 4 ? 0x80 : 0);
      }
      std::byte *large = pageOf(call, 1, 0) + 5 * 256;
      large[0] = std::byte(dtype[0] == 'b' ? 0x80 : 0);
      large[1] = std::byte(dtype[0] == 'b' ? 0x7f : 0x7c);
      large[256 * 2] = std::byte(0xff);
      large[256 * 2 + 1] = std::byte(exponent);
    });
  }
}

TEST(Gfx942, PrefillMixes) {
  for (int64_t heads : {1, 4}) {
    Shape shape = prefill();
    shape.heads = heads;
    shape.kvHeads = heads;
    shape.initBlocks = 1;
    expectRight(shape, {{1000, 300, 0, 17, 640}, {200, 300, 0, 1, 77}});
  }
  for (int64_t longest : {16, 100}) { // one and two query tiles
    Shape shape = prefill();
    shape.maxQueryLen = longest;
    expectRight(shape, {{700, 129}, {16, 9}});
  }
}

TEST(Gfx942, UglyValuesNeverWin) {
  const auto prepare = [](tool::Call &call) {
    std::byte *some = pageOf(call, 0, 1);
    for (int token = 0; token < 128; token += 3)
      some[token * 128 + token % 128] = std::byte(0x7f);
    std::fill_n(pageOf(call, 0, 2), 128 * 128, std::byte(0xff));
    std::fill_n(pageOf(call, 0, 3), 128 * 128, std::byte(0x80)); // -0
    std::fill_n(pageOf(call, 0, 4), 128 * 128, std::byte(0xfe)); // -448
    std::fill_n(pageOf(call, 1, 0), 128 * 128, std::byte(0x7e));
    call.arguments[call.indexer->query].bytes[128 + 5] = std::byte(0xff);
  };
  expectRight(decode(), {1000, 700, 129}, 3, prepare);
  expectRight(prefill(), {{1000, 700, 129}, {40, 1, 129}}, 3, prepare);
}
