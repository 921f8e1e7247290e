// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The real compilers in the real worker: clang's libraries always, hipRTC 6.4
// and 5.2 where tools/hiprtc has unpacked them, NVRTC where CUDA is installed.
#include "Support.h"

#include "CacheEntry.h"
#include "CubinInfo.h"
#include "winnow/Runtime/ClangCompiler.h"

#include <algorithm>
#include <cstdlib>

#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr char kKernel[] = R"(
extern "C" __attribute__((global)) void fill(int *out, int value) {
  __attribute__((shared)) static int kept[64];
  kept[__builtin_amdgcn_workitem_id_x()] = value;
  __builtin_amdgcn_s_barrier();
  out[__builtin_amdgcn_workitem_id_x()] =
      kept[63 - __builtin_amdgcn_workitem_id_x()];
}
)";

class Compilers : public RtcTest {
protected:
  static WorkerOptions clang() {
    WorkerOptions options;
    options.worker = WINNOW_RTC_WORKER;
    return options;
  }
  /// Empty, or why the tests of that hipRTC are skipped.
  static std::string lacking(const std::string &version) {
    const std::string folder = std::string(WINNOW_HIPRTC_FOLDER "/") + version;
    if (::access((folder + "/ready").c_str(), F_OK) == 0)
      return "";
    const std::string reason = readText(folder + "/missing");
    return "hipRTC " + version + " is not there: " +
           (reason.empty() ? "tools/hiprtc unpacks it" : reason);
  }
  static WorkerOptions hiprtc(const std::string &version) {
    WorkerOptions options = clang();
    Status status = useSystemTree(
        options, std::string(WINNOW_HIPRTC_FOLDER "/") + version + "/root");
    EXPECT_TRUE(status) << status.message();
    return options;
  }
  const Source kernel{"fill.hip", "mfma", {"gfx950"}, kKernel};
};

TEST_F(Compilers, ClangInTheWorkerMakesTheBytesOfTheDriver) {
  auto compiler = makeClangCompiler(clang());
  for (const char *arch :
       {"gfx950", "gfx942", "gfx90a:sramecc+:xnack-", "gfx1100"}) {
    Result<CompiledKernel> code = compiler->compile({&kernel, arch});
    ASSERT_TRUE(code) << code.message();
    Result<Compiled> driven = compileWithClang(kernel, arch);
    ASSERT_TRUE(driven) << driven.message();
    EXPECT_EQ(code->code, driven->code) << arch;
    EXPECT_EQ(code->log, "");
  }
}

TEST_F(Compilers, CodeSaysWhichKernelsItHolds) {
  Result<CompiledKernel> code =
      makeClangCompiler(clang())->compile({&kernel, "gfx950"});
  ASSERT_TRUE(code) << code.message();
  Result<CodeObjectInfo> info = readCodeObject(code->code, "gfx950");
  ASSERT_TRUE(info) << info.message();
  ASSERT_EQ(info->kernels.size(), 1u);
  const KernelResources &found = info->kernels.front();
  EXPECT_EQ(found.name, "fill");
  EXPECT_EQ(found.ldsBytes, 256u);
  EXPECT_EQ(found.scratchBytes, 0u);
  EXPECT_GE(found.kernargBytes, 12u);
  EXPECT_EQ(found.vgprs % 8, 0u);
  EXPECT_GT(found.vgprs, 0u);
  // Cut short anywhere, or with any byte changed, it is read without harm.
  std::vector<std::byte> bytes = code->code;
  for (size_t size = 0; size < bytes.size(); ++size)
    (void)readCodeObject(std::span(bytes).first(size), "gfx950");
  for (std::byte &byte : bytes) {
    const std::byte kept = byte;
    for (int value : {0, 1, 127, 255}) {
      byte = std::byte(value);
      (void)readCodeObject(bytes, "gfx950");
    }
    byte = kept;
  }
  EXPECT_FALSE(
      readCodeObject(std::span(bytes).first(bytes.size() - 1), "gfx950"));
}

TEST_F(Compilers, ClangsTextComesThrough) {
  auto compiler = makeClangCompiler(clang());
  Source broken = kernel;
  broken.text = "extern \"C\" __attribute__((global)) void f() { nonsense(); }";
  Result<CompiledKernel> code = compiler->compile({&broken, "gfx950"});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(),
              AllOf(HasSubstr("compile worker (clang) on fill.hip for gfx950 "
                              "failed:\nfill.hip:1:47: error: use of "
                              "undeclared identifier 'nonsense'"),
                    Not(HasSubstr("winnow-rtc-"))));
  Source warned = kernel;
  warned.text = std::string("#warning look here\n") + kKernel;
  code = compiler->compile({&warned, "gfx950"});
  ASSERT_TRUE(code) << code.message();
  EXPECT_THAT(code->log, HasSubstr("fill.hip:1:2: warning: look here"));
  code = compiler->compile({&kernel, "gfx123456"});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(), HasSubstr("gfx123456"));
  code = compiler->compile({&kernel, "gfx950:xnack"});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(), HasSubstr("ends in neither + nor -"));
}

TEST_F(Compilers, NothingOfTheDiskReachesTheCode) {
  Source nosy = kernel;
  nosy.text = "#include \"/etc/hostname\"\n";
  Result<CompiledKernel> code =
      makeClangCompiler(clang())->compile({&nosy, "gfx950"});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(), HasSubstr("'/etc/hostname' file not found"));
  nosy.text = "#include <stdint.h>\n";
  code = makeClangCompiler(clang())->compile({&nosy, "gfx950"});
  EXPECT_FALSE(code);
}

TEST_F(Compilers, ClangThatRunsOutOfMemoryIsAnError) {
  WorkerOptions options = clang();
  options.maxMemoryBytes = uint64_t(700) << 20; // its libraries take 400 MB
  Source endless = kernel;
  endless.text = R"(
#define F(x) x x x x x x x x x x
int table[] = { F(F(F(F(F(F(F(F(1,)))))))) };
)";
  Result<CompiledKernel> code =
      makeClangCompiler(options)->compile({&endless, "gfx950"});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(), HasSubstr("ended by signal"));
}

TEST_F(Compilers, NvrtcMakesACubinWhereItIsThere) {
  WorkerOptions options;
  options.worker = WINNOW_RTC_WORKER;
  auto compiler = makeNvrtcCompiler(options);
  Result<std::string> identity = compiler->identity();
  if (!identity)
    GTEST_SKIP() << "NVRTC is not there: " << identity.message();
  EXPECT_THAT(*identity,
              AllOf(HasSubstr("nvrtc 1"), HasSubstr(" --std=c++17"),
                    HasSubstr(" libnvrtc.so.1"),
                    HasSubstr(" libnvrtc-builtins.so.1"), Not(HasSubstr("/"))));
  Source source{"fill.hip", "generic", {"sm_90"}, R"(
extern "C" __global__ void fill(int *out, char small, long long step, int value) {
  __shared__ int kept[64];
  kept[threadIdx.x] = value * (int)step + small;
  __syncthreads();
  out[threadIdx.x] = kept[63 - threadIdx.x];
}
)"};
  Result<CompiledKernel> code = compiler->compile({&source, "sm_90"});
  ASSERT_TRUE(code) << code.message();
  EXPECT_EQ(code->from, *identity);
  EXPECT_EQ(code->log, "");
  Result<CodeObjectInfo> info = readCodeObject(code->code, "sm_90");
  ASSERT_TRUE(info) << info.message();
  ASSERT_EQ(info->kernels.size(), 1u);
  const KernelResources &found = info->kernels.front();
  EXPECT_EQ(found.name, "fill");
  EXPECT_EQ(found.kernargBytes, 28u);
  EXPECT_EQ(found.scratchBytes, 0u);
  EXPECT_GT(found.vgprs, 0u);
  // CUDA's own kilobyte is in it.
  EXPECT_EQ(found.ldsBytes, 256u + 1024);
  Result<std::vector<CubinParameter>> parameters =
      readCubinParameters(code->code, "fill");
  ASSERT_TRUE(parameters) << parameters.message();
  EXPECT_EQ(*parameters,
            (std::vector<CubinParameter>{{0, 8}, {8, 1}, {16, 8}, {24, 4}}));
  EXPECT_FALSE(readCubinParameters(code->code, "empty"));
  // The same code each time, and none of another's.
  EXPECT_EQ(compiler->compile({&source, "sm_90"})->code, code->code);
  EXPECT_THAT(readCodeObject(code->code, "sm_80").message(),
              HasSubstr("code for sm_90, wanted sm_80"));
  EXPECT_FALSE(readCodeObject(code->code, "gfx950"));

  // Cut short anywhere, or with any byte changed, it is read without harm.
  std::vector<std::byte> bytes = code->code;
  for (size_t size = 0; size < bytes.size(); ++size)
    (void)readCodeObject(std::span(bytes).first(size), "sm_90");
  for (std::byte &byte : bytes) {
    const std::byte kept = byte;
    for (int value : {0, 1, 127, 255}) {
      byte = std::byte(value);
      (void)readCodeObject(bytes, "sm_90");
      (void)readCubinParameters(bytes, "fill");
    }
    byte = kept;
  }
  EXPECT_FALSE(
      readCodeObject(std::span(bytes).first(bytes.size() - 1), "sm_90"));

  source.text = "extern \"C\" __global__ void f() { nonsense(); }";
  code = compiler->compile({&source, "sm_90"});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(),
              AllOf(HasSubstr("compile worker (nvrtc) on fill.hip for sm_90 "
                              "failed:\nnvrtcCompileProgram answered 6 "
                              "(NVRTC_ERROR_COMPILATION):\nfill.hip(1): error: "
                              "identifier \"nonsense\" is undefined"),
                    Not(HasSubstr("winnow-rtc-"))));
  code = compiler->compile({&source, "sm_123456"});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(), HasSubstr("NVRTC_ERROR_INVALID_OPTION"));
}

/// Where the environment says that a toolkit is, it is taken from there.
TEST_F(Compilers, NvrtcIsLookedForWhereTheEnvironmentSays) {
  ASSERT_TRUE(makeFolders(path("toolkit/lib64/")));
  ASSERT_TRUE(writeFileAtomically(path("toolkit/lib64/libnvrtc.so.12"),
                                  readText(WINNOW_FAKE_HIPRTC)));
  WorkerOptions options;
  options.worker = WINNOW_RTC_WORKER;
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"}) {
    const char *inherited = std::getenv(variable);
    const std::string kept = inherited ? inherited : "";
    ::setenv(variable, path("toolkit").c_str(), 1);
    Result<std::string> identity = makeNvrtcCompiler(options)->identity();
    if (inherited)
      ::setenv(variable, kept.c_str(), 1);
    else
      ::unsetenv(variable);
    ASSERT_TRUE(identity) << identity.message();
    EXPECT_THAT(
        *identity,
        HasSubstr("nvrtc 99.1 --std=c++17 --device-as-default-execution-space "
                  "sm_90=sm_90a libnvrtc.so.12:"));
  }
}

TEST_F(Compilers, HiprtcCompilesForBothArchitectures) {
  if (const std::string why = lacking("6.4"); !why.empty())
    GTEST_SKIP() << why;
  auto compiler = makeHiprtcCompiler(hiprtc("6.4"));
  Result<std::string> identity = compiler->identity();
  ASSERT_TRUE(identity) << identity.message();
  EXPECT_THAT(*identity,
              AllOf(HasSubstr("libamd_comgr.so.3:"), HasSubstr("libLLVM.so.21"),
                    HasSubstr("libhiprtc.so.6:")));
  for (const char *arch : {"gfx950", "gfx942:sramecc+:xnack-"}) {
    Result<CompiledKernel> code = compiler->compile({&kernel, arch});
    ASSERT_TRUE(code) << code.message();
    EXPECT_EQ(code->from, *identity);
    Result<CodeObjectInfo> info = readCodeObject(code->code, arch);
    ASSERT_TRUE(info) << info.message();
    ASSERT_EQ(info->kernels.size(), 1u);
    EXPECT_EQ(info->kernels.front().name, "fill");
    // The same code each time: no path and no time in it.
    Result<CompiledKernel> again = compiler->compile({&kernel, arch});
    ASSERT_TRUE(again) << again.message();
    EXPECT_EQ(code->code, again->code);
  }
  Source broken = kernel;
  broken.text = "nonsense";
  Result<CompiledKernel> code = compiler->compile({&broken, "gfx950"});
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(),
              HasSubstr("hiprtcCompileProgram answered 6 "
                        "(HIPRTC_ERROR_COMPILATION):\nfill.hip:1:1: error:"));
}

TEST_F(Compilers, AHiprtcThatAbortsCostsOneErrorForItsKey) {
  if (const std::string why = lacking("5.2"); !why.empty())
    GTEST_SKIP() << why;
  WorkerOptions options = hiprtc("5.2");
  options.hiprtc = "libamdhip64.so.5";
  auto compiler = makeHiprtcCompiler(options);
  CacheOptions cached;
  cached.folder = path("cache");
  KernelCache cache(cached);
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  Result<CachedCode> code = cache.codeFor(kernel, "gfx950", *compiler);
  const auto first = Clock::now() - start;
  ASSERT_FALSE(code);
  EXPECT_THAT(code.message(), HasSubstr("was ended by signal 6 (Aborted)"));
  // It is not asked again: the answer is there long before a worker would be.
  const auto second = Clock::now();
  EXPECT_FALSE(cache.codeFor(kernel, "gfx950", *compiler));
  EXPECT_LT((Clock::now() - second) * 4, first);
  // It lives on, for what it knows.
  code = cache.codeFor(kernel, "gfx90a", *compiler);
  ASSERT_TRUE(code) << code.message();
}

} // namespace
