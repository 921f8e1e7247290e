// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A description compiled inside the process, through the compiler's C
// interface, and run: text to result without a file.
#include "ApiFixture.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow_compiler.h"

#include <gmock/gmock.h>

#include <dlfcn.h>

using namespace winnow;
using namespace winnow::test;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// Loaded by name, so that these tests do not link MLIR.
struct Compiler {
  decltype(&winnow_compiler_version) version;
  decltype(&winnow_compiler_last_error) lastError;
  decltype(&winnow_compiler_compile) compile;
  decltype(&winnow_compiler_free) free;

  Compiler() {
    void *library = dlopen(WINNOW_COMPILER, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      ADD_FAILURE() << dlerror();
    auto take = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          dlsym(library, name));
      ASSERT_NE(function, nullptr) << name;
    };
    take(version, "winnow_compiler_version");
    take(lastError, "winnow_compiler_last_error");
    take(compile, "winnow_compiler_compile");
    take(free, "winnow_compiler_free");
  }
};

class CompilerTest : public ApiTest {
protected:
  static const Compiler &compiler() {
    static const Compiler loaded;
    return loaded;
  }
  static std::string example() {
    auto bytes = runtime::readFile(
        WINNOW_SOURCE "/dsl/examples/minimax_m3_decode.mlir", 1 << 20);
    EXPECT_TRUE(bytes);
    return {reinterpret_cast<const char *>(bytes->data()), bytes->size()};
  }
};

TEST_F(CompilerTest, CompilesAndRunsADescription) {
  const std::string text = example();
  void *bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(compiler().compile(text.data(), text.size(), "decode.mlir", nullptr,
                               &bytes, &size),
            WINNOW_COMPILER_OK)
      << compiler().lastError();
  winnow_bundle *compiled = nullptr;
  ASSERT_EQ(winnow_bundle_open_memory(bytes, size, &compiled), WINNOW_OK)
      << winnow_last_error();
  compiler().free(bytes);
  const winnow_plan *found = nullptr;
  winnow_plan_options wanted = WINNOW_PLAN_OPTIONS_INIT;
  wanted.max_requests = 2;
  ASSERT_EQ(winnow_plan_get(runtime, compiled, device, &wanted, &found),
            WINNOW_OK)
      << winnow_last_error();
  winnow_plan_info info = WINNOW_PLAN_INFO_INIT;
  ASSERT_EQ(winnow_plan_get_info(found, &info), WINNOW_OK);
  EXPECT_STREQ(info.from, "compiler");
  DecodeCall call(device, stream, 2);
  ASSERT_EQ(call.launch(found), WINNOW_OK) << winnow_last_error();
  call.expectRight();
  EXPECT_EQ(winnow_bundle_release(compiled), WINNOW_OK);
}

TEST_F(CompilerTest, WritesTheVariantsThatBuildDoes) {
  const std::string text = example();
  void *bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(compiler().compile(text.data(), text.size(), "decode.mlir", nullptr,
                               &bytes, &size),
            WINNOW_COMPILER_OK)
      << compiler().lastError();
  auto bundle =
      runtime::readBundle({static_cast<const std::byte *>(bytes), size});
  compiler().free(bytes);
  ASSERT_TRUE(bundle) << bundle.message();
  const auto variants = bundle->variants("m3_decode");
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0]->lowering, "mfma");
  EXPECT_EQ(variants[1]->lowering, "generic");
  EXPECT_NE(variants[0]->launches[0].source, variants[1]->launches[0].source);
}

TEST_F(CompilerTest, TellsWhatIsWrongWithADescription) {
  std::string text = example();
  text.replace(text.find("k = 16"), 6, "k = 17");
  void *bytes = &text;
  size_t size = 1;
  EXPECT_EQ(compiler().compile(text.data(), text.size(), "wrong.mlir", nullptr,
                               &bytes, &size),
            WINNOW_COMPILER_ERROR_DESCRIPTION);
  EXPECT_THAT(compiler().lastError(),
              AllOf(HasSubstr("wrong.mlir:"), HasSubstr("17")));
  EXPECT_EQ(bytes, nullptr);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(compiler().compile("", 0, nullptr, nullptr, &bytes, &size),
            WINNOW_COMPILER_ERROR_DESCRIPTION);
  EXPECT_THAT(compiler().lastError(), HasSubstr("description"));
}

TEST_F(CompilerTest, TakesOptionsAndRefusesUnknownOnes) {
  const std::string text = example();
  void *bytes = nullptr;
  size_t size = 0;
  winnow_compiler_options options = WINNOW_COMPILER_OPTIONS_INIT;
  options.prefer = "generic";
  ASSERT_EQ(compiler().compile(text.data(), text.size(), nullptr, &options,
                               &bytes, &size),
            WINNOW_COMPILER_OK)
      << compiler().lastError();
  auto bundle =
      runtime::readBundle({static_cast<const std::byte *>(bytes), size});
  compiler().free(bytes);
  ASSERT_TRUE(bundle) << bundle.message();
  EXPECT_EQ(bundle->entries[0].lowering, "generic");
  EXPECT_EQ(bundle->entries.size(), 1u);

  options.size = 4;
  EXPECT_EQ(compiler().compile(text.data(), text.size(), nullptr, &options,
                               &bytes, &size),
            WINNOW_COMPILER_ERROR_ARGUMENT);
  EXPECT_THAT(compiler().lastError(),
              HasSubstr("winnow_compiler_options.size is 4"));
  EXPECT_EQ(compiler().compile(nullptr, 0, nullptr, nullptr, &bytes, &size),
            WINNOW_COMPILER_ERROR_ARGUMENT);
  EXPECT_EQ(compiler().compile("", 0, nullptr, nullptr, nullptr, nullptr),
            WINNOW_COMPILER_ERROR_ARGUMENT);
  EXPECT_STREQ(compiler().version(), winnow_version());
}

} // namespace
