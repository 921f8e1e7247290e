// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// insert_keys on the simulated device, for every code of the 16-bit formats and
// for the neighbourhoods of f32 in which rounding turns.
#include "winnow/Codegen/Compile.h"
#include "winnow/Runtime/ClangCompiler.h"

#include "Execute.h"
#include "Inputs.h"
#include "Verify.h"

#include "gtest/gtest.h"

#include <bit>
#include <cstring>

using namespace winnow;

namespace {

/// Keys of eight elements into a cache of the other format; `fill` writes them.
void expectConverted(const std::string &from, const std::string &to,
                     const std::function<void(tool::HostTensor &)> &fill) {
  SCOPED_TRACE(from + " to " + to);
  const std::string cache = "memref<?x32x8x" + to + ">";
  const std::string keys = "memref<1024x8x" + from + ">";
  const std::string text =
      "func.func @insert(%k: " + keys + ", %s: memref<1024xi32>, %c: " + cache +
      ") attributes {winnow.entry, winnow.bounds = {max_seq_len = 4096, "
      "max_requests = 64}} {\n  winnow.insert_keys %k, %s, %c : " +
      keys + ", memref<1024xi32>, " + cache + "\n  return\n}\n";
  Result<runtime::Bundle> bundle = compileDescription(text, "test.mlir");
  ASSERT_TRUE(bundle) << bundle.message();
  Result<runtime::Compiled> compiled =
      runtime::compileWithClang(bundle->sources[0], "gfx950");
  ASSERT_TRUE(compiled) << compiled.message();
  tool::LoadedCode code;
  code.arch = "gfx950";
  auto object = sim::CodeObject::load(compiled->code);
  ASSERT_TRUE(object) << object.message();
  code.object = *object;

  Result<tool::Indexer> indexer = tool::Indexer::of(bundle->entries[0]);
  ASSERT_TRUE(indexer) << indexer.message();
  const std::vector<int32_t> requests(10, 1);
  Result<tool::Call> call = tool::randomCall(*indexer, requests, 1);
  ASSERT_TRUE(call) << call.message();
  fill(call->arguments[0]);
  auto slots = call->arguments[1].as<int32_t, 1>();
  for (int32_t i = 0; i < 1024; ++i)
    slots(i) = i; // 53 pages of 32 take them all
  const tool::Call before = *call;
  auto records = tool::runOnSim(*call, {code}, {});
  ASSERT_TRUE(records) << records.message();
  Result<tool::Verdict> verdict = tool::verify(before, *call);
  ASSERT_TRUE(verdict) << verdict.message();
  ASSERT_TRUE(verdict->steps.has_value());
  EXPECT_TRUE(verdict->steps->ok()) << verdict->steps->text();
  EXPECT_TRUE(verdict->untouched.ok()) << verdict->untouched.text();
}

/// 8192 of the 65536 codes of a 16-bit format; eight parts make all.
std::function<void(tool::HostTensor &)> codes16(int part) {
  return [part](tool::HostTensor &keys) {
    for (uint32_t i = 0; i < 8192; ++i) {
      const auto code = static_cast<uint16_t>(part * 8192 + i);
      std::memcpy(&keys.bytes[i * 2], &code, 2);
    }
  };
}

TEST(InsertKeys, EveryCodeOfThe16BitFormats) {
  for (const char *from : {"bf16", "f16"})
    for (const char *to : {"f8E4M3FN", "bf16", "f16"})
      for (int part = 0; part < 8; ++part)
        expectConverted(from, to, codes16(part));
}

TEST(InsertKeys, WhereRoundingOfF32Turns) {
  // Each exponent of interest, with mantissas beside every tie of the target's
  // bits: just below it, on it, just above it.
  for (auto [to, kept] :
       {std::pair("f8E4M3FN", 3), std::pair("bf16", 7), std::pair("f16", 10)})
    expectConverted("f32", to, [kept = kept](tool::HostTensor &keys) {
      uint32_t state = 7;
      for (uint32_t i = 0; i < 8192; ++i) {
        state = state * 1664525 + 1013904223;
        const uint32_t dropped = 23 - kept;
        const uint32_t mantissa = (state >> 9) & ~((1u << dropped) - 1);
        const uint32_t tie = 1u << (dropped - 1);
        const uint32_t beside = i % 4 == 0   ? tie - 1
                                : i % 4 == 1 ? tie
                                : i % 4 == 2 ? tie + 1
                                             : state & ((1u << dropped) - 1);
        const uint32_t exponent = i % 32 == 31 ? 255 : 96 + (i / 4) % 56;
        const uint32_t bits =
            (state & 0x80000000u) | exponent << 23 | mantissa | beside;
        std::memcpy(&keys.bytes[i * 4], &bits, 4);
      }
    });
}

} // namespace
