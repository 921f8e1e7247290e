// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which lowering is served, why not the others, and what happens while a better
// one is being compiled.
#include "Support.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Dispatcher.h"
#include "winnow/Runtime/Files.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>

using namespace winnow;
using namespace winnow::runtime;
using namespace winnow::test;
using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

constexpr char kFastContract[] =
    R"({"contract": "fast", "title": "Fast", "about": "For tests.", "limits": [
      {"id": "arch", "fact": "arch", "relation": "equals", "value": "gfx950",
       "reason": "only gfx950 is fast"},
      {"id": "k", "fact": "k", "relation": "at_most", "value": 16,
       "reason": "sixteen slots"}]})";

Entry raise(const std::string &lowering, uint32_t source, int64_t maxRequests) {
  Entry entry = raiseEntry(lowering, source);
  entry.facts = {{"k", int64_t(16)}};
  entry.maxRequests = maxRequests;
  return entry;
}

/// "fast" for gfx950 and few requests, then "generic".
Bundle variants() {
  Bundle bundle;
  bundle.generator = "winnow test";
  bundle.entries = {raise("fast", 0, 64), raise("generic", 1, 1024)};
  bundle.entries[0].loweringContract = kFastContract;
  bundle.sources = {{"fast.hip", "fast", {"gfx950"}, "// fast\n"},
                    {"generic.hip", "generic", {"gfx950", "gfx90a"}, "// g\n"}};
  return bundle;
}

/// "Compiles" to the tests' kernel, when it is let.
class FakeCompiler : public KernelCompiler {
public:
  Result<std::string> identity() override { return std::string("fake 1"); }
  Result<CompiledKernel> compile(const CompileRequest &request) override {
    std::unique_lock<std::mutex> guard(lock);
    compiled.push_back(request.source->name);
    changed.notify_all();
    changed.wait(guard, [&] { return isOpen; });
    if (broken == request.source->name)
      return Error{"fake: " + broken + ": line 3: no such instruction"};
    return CompiledKernel{addKernel(baseArch(request.arch)), "",
                          std::chrono::microseconds(5), "fake 1"};
  }
  void open(bool value) {
    std::lock_guard<std::mutex> guard(lock);
    isOpen = value;
    changed.notify_all();
  }
  void waitForCompile(size_t count) {
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [&] { return compiled.size() >= count; });
  }
  std::vector<std::string> compiledSources() {
    std::lock_guard<std::mutex> guard(lock);
    return compiled;
  }
  std::string broken; // set before use

private:
  std::mutex lock;
  std::condition_variable changed;
  std::vector<std::string> compiled;
  bool isOpen = true;
};

class DispatcherTest : public HipSimTest {
protected:
  void SetUp() override {
    HipSimTest::SetUp();
    folder =
        std::make_unique<TemporaryFolder>(std::move(*TemporaryFolder::make()));
    addKernel();
  }

  void start(CompileMode mode) {
    DispatcherOptions options;
    options.mode = mode;
    options.compiler = compiler;
    options.cache.folder = folder->path() + "/cache";
    options.logger = [this](LogLevel level, const std::string &line) {
      std::lock_guard<std::mutex> guard(logging);
      log += (level == LogLevel::Warning ? "W " : "I ") + line + "\n";
    };
    options.cache.logger = options.logger;
    dispatcher = std::make_unique<Dispatcher>(std::move(options));
  }
  void use(Bundle bundle, const char *arch = nullptr) {
    ASSERT_TRUE(validate(bundle)) << validate(bundle).message();
    loaded = LoadedBundle::make(std::move(bundle));
    hooks().setDevices(1, arch);
    opened = OpenedDevice::make(device("hip:0"));
  }
  const Plan *plan(PlanRequest request = {}) {
    auto found = dispatcher->plan(loaded, opened, request, kind);
    error = found ? "" : found.message();
    return found ? *found : nullptr;
  }
  std::string logged() {
    std::lock_guard<std::mutex> guard(logging);
    return log;
  }

  std::unique_ptr<TemporaryFolder> folder;
  std::shared_ptr<FakeCompiler> compiler = std::make_shared<FakeCompiler>();
  std::mutex logging;
  std::string log, error;
  std::unique_ptr<Dispatcher> dispatcher;
  std::shared_ptr<const LoadedBundle> loaded;
  std::shared_ptr<const OpenedDevice> opened;
  ErrorKind kind = ErrorKind::Internal;
};

TEST_F(DispatcherTest, TakesTheFirstLoweringThatIsMet) {
  start(CompileMode::Auto);
  use(variants());
  const Plan *found = plan();
  ASSERT_TRUE(found) << error;
  EXPECT_EQ(found->report().lowering, "fast");
  EXPECT_EQ(found->report().from, "compiler");
  EXPECT_EQ(found->report().compiler, "fake 1");
  EXPECT_TRUE(found->report().refused.empty());
  EXPECT_THAT(compiler->compiledSources(), ElementsAre("fast.hip"));
  EXPECT_THAT(logged(),
              HasSubstr("I plan 'raise' on hip:0 (gfx950:sramecc+:xnack-): "
                        "lowering fast, from compiler, "));
  // A second look-up is no second line.
  const std::string before = logged();
  EXPECT_EQ(plan(), found);
  EXPECT_EQ(logged(), before);
}

TEST_F(DispatcherTest, KeepsEveryReasonForNotTakingABetterOne) {
  start(CompileMode::Auto);
  Bundle bundle = variants();
  bundle.entries[0].facts["k"] = int64_t(32);
  use(std::move(bundle), "gfx90a:sramecc+:xnack-");
  PlanRequest request;
  request.maxRequests = 100;
  const Plan *found = plan(request);
  ASSERT_TRUE(found) << error;
  const PlanReport &report = found->report();
  EXPECT_EQ(report.lowering, "generic");
  ASSERT_EQ(report.refused.size(), 1u);
  EXPECT_EQ(report.refused[0].lowering, "fast");
  EXPECT_THAT(
      report.refused[0].reasons,
      ElementsAre(HasSubstr("max_requests of 100 asked, it was built for at "
                            "most 64"),
                  AllOf(HasSubstr("contract 'fast', limit 'arch'"),
                        HasSubstr("gfx90a"), HasSubstr("only gfx950 is fast")),
                  AllOf(HasSubstr("limit 'k'"), HasSubstr("32"),
                        HasSubstr("sixteen slots")),
                  HasSubstr("source 'fast.hip' is for gfx950, the device is "
                            "gfx90a")));
  EXPECT_THAT(report.text(), HasSubstr("not fast: contract 'fast', limit 'k'"));
  EXPECT_THAT(report.json(), HasSubstr("\"lowering\": \"fast\""));
  EXPECT_THAT(logged(), AllOf(HasSubstr("lowering generic"),
                              HasSubstr("not fast: max_requests of 100")));
}

TEST_F(DispatcherTest, RefusesWhatNoLoweringTakes) {
  start(CompileMode::Auto);
  use(variants(), "gfx1100");
  EXPECT_FALSE(plan());
  EXPECT_EQ(kind, ErrorKind::Contract);
  EXPECT_THAT(error, AllOf(HasSubstr("no plan for 'raise' on hip:0 (gfx1100)"),
                           HasSubstr("not fast: contract 'fast'"),
                           HasSubstr("not generic: source 'generic.hip' is for "
                                     "gfx950, gfx90a, the device is gfx1100")));
  EXPECT_THAT(logged(), HasSubstr("W no plan for 'raise'"));
}

TEST_F(DispatcherTest, FallsBackWhereTheBetterCodeCannotBeHad) {
  compiler->broken = "fast.hip";
  start(CompileMode::Auto);
  use(variants());
  const Plan *found = plan();
  ASSERT_TRUE(found) << error;
  EXPECT_EQ(found->report().lowering, "generic");
  ASSERT_EQ(found->report().refused.size(), 1u);
  EXPECT_THAT(found->report().refused[0].reasons,
              ElementsAre(HasSubstr("no such instruction")));
}

TEST_F(DispatcherTest, PrefersWhatItIsToldTo) {
  start(CompileMode::Auto);
  use(variants());
  PlanRequest request;
  request.prefer = "generic";
  const Plan *found = plan(request);
  ASSERT_TRUE(found) << error;
  EXPECT_EQ(found->report().lowering, "generic");

  request.prefer = "fastest";
  EXPECT_FALSE(plan(request));
  EXPECT_EQ(kind, ErrorKind::NotFound);
  EXPECT_EQ(error, "'raise' has no lowering 'fastest'; it has: fast, generic");

  // With nothing else allowed, a refused preference is an error.
  request.prefer = "fast";
  request.maxRequests = 100;
  ASSERT_TRUE(plan(request)) << error;
  request.preferredOnly = true;
  EXPECT_FALSE(plan(request));
  EXPECT_EQ(kind, ErrorKind::Contract);
  EXPECT_THAT(error, AllOf(HasSubstr("not fast: max_requests"),
                           Not(HasSubstr("generic"))));
}

TEST_F(DispatcherTest, NeverCompilesWhereItMustNot) {
  start(CompileMode::Never);
  use(variants());
  EXPECT_FALSE(plan());
  EXPECT_EQ(kind, ErrorKind::MissingKernel);
  EXPECT_THAT(error,
              AllOf(HasSubstr("not fast: "), HasSubstr("fast.hip"),
                    HasSubstr("not generic: "), HasSubstr("generic.hip")));
  EXPECT_TRUE(compiler->compiledSources().empty());
  EXPECT_THAT(error, ContainsRegex("fast.hip on gfx950:sramecc.:xnack-: "
                                   "key [0-9a-f]+ is not in the bundle"));

  // What the bundle brings is fine.
  Bundle bundle = variants();
  bundle.codeObjects = {{1, "gfx950", addKernel()}};
  use(std::move(bundle));
  const Plan *found = plan();
  ASSERT_TRUE(found) << error;
  EXPECT_EQ(found->report().lowering, "generic");
  EXPECT_EQ(found->report().from, "bundle");
}

TEST_F(DispatcherTest, TakesPrebuiltCodeForTheFullTarget) {
  start(CompileMode::Never);
  Bundle bundle = variants();
  bundle.codeObjects = {{0, "gfx950:xnack+", addKernel()}};
  use(bundle);
  EXPECT_FALSE(plan()) << "code for xnack+ on a device without";
  bundle.codeObjects = {{0, "gfx950:xnack-", addKernel()}};
  use(bundle);
  EXPECT_TRUE(plan()) << error;
}

TEST_F(DispatcherTest, FindsOnDiskWhatAnotherProcessCompiled) {
  start(CompileMode::Auto);
  use(variants());
  ASSERT_TRUE(plan()) << error;
  start(CompileMode::Never); // as a new process: nothing in memory
  const Plan *found = plan();
  ASSERT_TRUE(found) << error;
  EXPECT_EQ(found->report().from, "disk cache");
  EXPECT_EQ(found->report().lowering, "fast");
}

TEST_F(DispatcherTest, ServesWhatIsAtHandAndSwitchesWhenTheBetterIsReady) {
  compiler->open(false);
  start(CompileMode::Background);
  Bundle bundle = variants();
  bundle.codeObjects = {{1, "gfx950", addKernel()}};
  use(std::move(bundle));
  const Plan *first = plan();
  ASSERT_TRUE(first) << error;
  EXPECT_EQ(first->report().lowering, "generic");
  EXPECT_THAT(first->report().compiling, ElementsAre("fast"));
  EXPECT_THAT(logged(), HasSubstr("compiling fast behind it"));
  compiler->waitForCompile(1);
  EXPECT_EQ(plan(), first) << "switched before it was compiled";

  // A graph that is being captured when the better one arrives keeps the plan
  // that it was begun with, and is not disturbed by the loading.
  std::shared_ptr<Device> hip = opened->device;
  void *stream = *hip->createStream();
  void *values = *hip->allocate(256);
  ASSERT_TRUE(hip->fill(values, 0, 256, stream));
  const TensorView view =
      TensorView::dense(reinterpret_cast<uint64_t>(values), DType::I32, {64});
  auto begin = reinterpret_cast<int (*)(void *, int)>(
      hooks().symbol("hipStreamBeginCapture"));
  ASSERT_EQ(begin(stream, /*hipStreamCaptureModeGlobal*/ 0), 0);
  ASSERT_TRUE(first->launch(stream, {&view, 1}, nullptr, 0, kind));
  compiler->open(true);
  dispatcher->waitForBackground();
  ASSERT_TRUE(first->launch(stream, {&view, 1}, nullptr, 0, kind));
  auto graph = hip->endCapture(stream);
  ASSERT_TRUE(graph) << graph.message();

  const Plan *second = plan();
  ASSERT_TRUE(second);
  EXPECT_NE(second, first);
  EXPECT_EQ(second->report().lowering, "fast");
  EXPECT_EQ(second->report().from, "compiler");
  EXPECT_EQ(first->report().lowering, "generic");

  ASSERT_TRUE(hip->launchGraph(*graph, stream));
  ASSERT_TRUE(second->launch(stream, {&view, 1}, nullptr, 0, kind));
  int32_t value = 0;
  ASSERT_TRUE(hip->copy(&value, values, 4, CopyDirection::FromDevice, stream));
  EXPECT_EQ(value, 3);
  EXPECT_TRUE(hip->destroyGraph(*graph));
  EXPECT_TRUE(hip->free(values));
  EXPECT_TRUE(hip->destroyStream(stream));
}

TEST_F(DispatcherTest, KeepsServingWhenTheBackgroundCompileFails) {
  compiler->broken = "fast.hip";
  start(CompileMode::Background);
  Bundle bundle = variants();
  bundle.codeObjects = {{1, "gfx950", addKernel()}};
  use(std::move(bundle));
  const Plan *first = plan();
  ASSERT_TRUE(first) << error;
  dispatcher->waitForBackground();
  EXPECT_EQ(plan(), first);
  EXPECT_THAT(logged(), AllOf(HasSubstr("W plan 'raise' on hip:0: compiling "
                                        "lowering fast in the background "
                                        "failed"),
                              HasSubstr("no such instruction")));
}

TEST_F(DispatcherTest, CompilesInTheForegroundWhereNothingIsAtHand) {
  start(CompileMode::Background);
  use(variants());
  const Plan *found = plan();
  ASSERT_TRUE(found) << error;
  EXPECT_EQ(found->report().lowering, "fast");
  EXPECT_TRUE(found->report().compiling.empty());
}

TEST_F(DispatcherTest, EndsWithWorkInItsQueue) {
  start(CompileMode::Background);
  Bundle bundle = variants();
  bundle.codeObjects = {{1, "gfx950", addKernel()}};
  use(std::move(bundle));
  for (int64_t requests = 1; requests <= 40; ++requests) {
    PlanRequest request;
    request.maxRequests = requests;
    ASSERT_TRUE(plan(request)) << error;
  }
  dispatcher = nullptr; // must neither hang nor crash
}

TEST(Variants, AgreeOnTheirArguments) {
  Bundle bundle = variants();
  ASSERT_TRUE(validate(bundle));
  EXPECT_EQ(bundle.variants("raise").size(), 2u);
  EXPECT_EQ((*bundle.find(""))->lowering, "fast");
  EXPECT_FALSE(bundle.find("lower"));

  Bundle same = bundle;
  same.entries[1].lowering = "fast";
  EXPECT_EQ(validate(same).message(),
            "entries[1].lowering: 'fast' of entry 'raise' for gfx950 is there "
            "twice");
  same.sources[1].archs = {"gfx90a"};
  EXPECT_TRUE(validate(same)) << "one lowering, an entry for each architecture";
  Bundle other = bundle;
  other.entries[1].arguments[0].dtype = DType::F32;
  EXPECT_THAT(validate(other).message(),
              HasSubstr("entries[1].arguments[0]: 'values' is not the 'values' "
                        "of the variant 'fast' of 'raise'"));
  Bundle more = bundle;
  more.entries[1].arguments.push_back(more.entries[1].arguments[0]);
  more.entries[1].arguments[1].name = "others";
  EXPECT_THAT(validate(more).message(),
              HasSubstr("entries[1].arguments: 2, the variant 'fast' of "
                        "'raise' has 1"));
  // And they survive the file.
  auto bytes = writeBundle(bundle);
  ASSERT_TRUE(bytes) << bytes.message();
  auto again = readBundle(*bytes);
  ASSERT_TRUE(again) << again.message();
  EXPECT_EQ(again->variants("raise").size(), 2u);
  EXPECT_EQ(*writeBundle(*again), *bytes);
}

} // namespace
