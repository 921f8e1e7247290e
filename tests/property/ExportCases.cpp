// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-export-cases: random cases of the property tests in a folder, compiled
// for an architecture, for winnow-device-cases to run where that is.
#include "CaseFolder.h"
#include "Kernels.h"
#include "Random.h"
#include "RandomCase.h"
#include "RandomSchedule.h"

#include "CommandLine.h"
#include "Compilers.h"
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>

using namespace winnow;
using namespace winnow::test;

namespace {

struct Options {
  std::string folder, arch = "sm_90";
  uint64_t seed = 1;
  uint64_t seeds = 32;
  int inputs = 3;
  int large = 0;
  unsigned jobs = 2;
  tool::CompilerOptions compiler;
};

/// Dozens of requests, as much as the reference computes in a second or so.
Inputs largeInputs(const Shape &shape, Random &random) {
  constexpr int64_t kProducts = 400'000'000, kScores = 8'000'000;
  Inputs inputs;
  inputs.seed = random.next();
  const int64_t most = std::min<int64_t>(shape.maxRequests, 96);
  const int64_t requests = random.between(std::min<int64_t>(most, 16), most);
  int64_t left = kProducts / (shape.headDim * shape.heads);
  int64_t rows = kScores / (shape.heads * shape.maxBlocks());
  for (int64_t i = 0; i < requests; ++i) {
    int64_t newTokens = shape.queryLen;
    if (shape.ragged())
      newTokens = random.between(0, std::min<int64_t>(shape.maxQueryLen, 24));
    rows -= newTokens;
    if (rows < 0 && i > 0)
      break;
    // One in eight is long.
    const int64_t tokens = std::min<int64_t>(
        {random.between(0, random.chance(12) ? 100'000 : 6'000),
         shape.maxSeqLen, left / std::max<int64_t>(newTokens, 1)});
    left -= tokens * newTokens;
    inputs.lengths.tokens.push_back(static_cast<int32_t>(tokens));
    if (shape.ragged())
      inputs.lengths.newTokens.push_back(static_cast<int32_t>(newTokens));
  }
  inputs.unmapped = random.pick({0, 0, 5});
  inputs.keys = random.pick({Values::Bell, Values::Bell, Values::Plateaus});
  return inputs;
}

class Exporter {
public:
  Exporter(const Options &options, tool::Compiler compiler)
      : options(options), compiler(std::move(compiler)) {}

  int run() {
    if (Status made = runtime::makeFolders(options.folder + "/"); !made)
      return failed(made.message());
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(options.jobs, 1u); ++i)
      threads.emplace_back([this] {
        for (uint64_t i; !isStopped && (i = next++) < options.seeds;)
          exportSeed(options.seed + i);
      });
    for (std::thread &thread : threads)
      thread.join();
    if (isStopped)
      return 1;
    std::sort(folder.cases.begin(), folder.cases.end(),
              [](const FolderCase &a, const FolderCase &b) {
                return std::pair(a.seed, a.variant) <
                       std::pair(b.seed, b.variant);
              });
    folder.arch = options.arch;
    if (Status written = folder.write(options.folder); !written)
      return failed(written.message());
    std::printf("%s: %zu descriptions for %s of %llu seeds, %zu refused\n",
                options.folder.c_str(), folder.cases.size(),
                options.arch.c_str(),
                static_cast<unsigned long long>(options.seeds), refused);
    return folder.cases.empty() ? 1 : 0;
  }

private:
  void exportSeed(uint64_t seed) {
    Case made = randomCase(seed, options.inputs);
    Random random(seed ^ 0x6c61726765u); // "large"
    for (int i = 0; i < options.large && made.shape.selects; ++i)
      made.inputs.push_back(largeInputs(made.shape, random));
    std::set<std::string> known;
    int variant = -1;
    for (const Shape &shape : made.variants) {
      ++variant;
      for (const int64_t launches : {0, 1, 2}) {
        Shape form = shape;
        // Rows that are uniform may be scored and selected in one launch.
        if (launches != 0 && (!shape.selects || shape.ragged() || shape.merges))
          break;
        if (launches != 0)
          form.launches = launches;
        // What asks for one chip's limits or instructions asks for less.
        if (options.arch != "gfx950") {
          form.contract.clear();
          form.scoreLowering.clear();
          form.selectLowering.clear();
        }
        // The lowerings of another target have other limits.
        if (options.arch.starts_with("sm_"))
          form.schedule = form.prefer.empty() && random.chance(50)
                              ? randomSchedule(form, "mma", random)
                              : "";
        exportForm(made, form, variant, known);
      }
    }
  }

  void exportForm(const Case &made, const Shape &form, int variant,
                  std::set<std::string> &known) {
    Result<runtime::Bundle> bundle = emitKernels(form, options.arch);
    if (!bundle) {
      // Other refusals are of what the description asks for.
      if (bundle.message().find("cannot have its schedule") !=
          std::string::npos) {
        failed("seed " + std::to_string(made.seed) + ": " + bundle.message());
        return;
      }
      std::lock_guard guard(lock);
      ++refused;
      return;
    }
    // Another way to ask for the same kernels.
    std::string texts;
    for (const runtime::Source &source : bundle->sources)
      texts += source.text;
    if (!known.insert(texts).second)
      return;
    const std::string name = std::to_string(made.seed) + "-" +
                             std::to_string(known.size()) + ".winnow";
    if (Status status = writeBundle(*bundle, name); !status) {
      failed("seed " + std::to_string(made.seed) + ": " + status.message() +
             "\n" + form.describe());
      return;
    }
    std::lock_guard guard(lock);
    folder.cases.push_back({made.seed, variant, name,
                            bundle->entries.front().lowering, form.text(),
                            made.inputs});
  }

  Status writeBundle(runtime::Bundle &bundle, const std::string &name) {
    for (uint32_t i = 0; i < bundle.sources.size(); ++i) {
      auto code = compiler.compile(bundle.sources[i], options.arch);
      if (!code)
        return code.takeError();
      bundle.codeObjects.push_back({i, options.arch, *code->code});
    }
    auto bytes = runtime::writeBundle(bundle);
    if (!bytes)
      return bytes.takeError();
    return runtime::writeFileAtomically(options.folder + "/" + name, *bytes);
  }

  int failed(const std::string &text) {
    std::lock_guard guard(lock);
    std::fprintf(stderr, "winnow-export-cases: %s\n", text.c_str());
    isStopped = true;
    return 1;
  }

  const Options &options;
  tool::Compiler compiler;
  std::mutex lock;
  CaseFolder folder;
  size_t refused = 0;
  std::atomic<uint64_t> next{0};
  std::atomic<bool> isStopped{false};
};

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Writes random cases of the property tests, compiled for an "
               "architecture, into a folder for winnow-device-cases.");
  app.add_option("FOLDER", options.folder)->required();
  app.add_option("--arch", options.arch)->capture_default_str();
  app.add_option("--seed", options.seed, "The first")
      ->check(tool::seedText)
      ->capture_default_str();
  app.add_option("--seeds", options.seeds, "How many")
      ->check(CLI::Range(1, INT32_MAX))
      ->capture_default_str();
  app.add_option("--inputs", options.inputs, "Of each description")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--large", options.large,
                 "And as many of dozens of requests, some of them long: too "
                 "much for a simulator")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "Threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  tool::addCompilerOptions(app, options.compiler);
  if (auto code = tool::parseCommandLine(app, argc, argv))
    return *code;
  auto compiler = tool::Compiler::make(options.compiler);
  if (!compiler) {
    std::fprintf(stderr, "winnow-export-cases: %s\n",
                 compiler.message().c_str());
    return tool::kUsage;
  }
  return Exporter(options, std::move(*compiler)).run();
}
