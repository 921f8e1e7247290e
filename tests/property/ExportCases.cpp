// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// winnow-export-cases: random cases of the property tests in a folder, compiled
// for an architecture, for winnow-device-cases to run where that is.
#include "CaseFolder.h"
#include "Kernels.h"
#include "RandomCase.h"

#include "Compilers.h"
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <CLI/CLI.hpp>

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
  unsigned jobs = 2;
  tool::CompilerOptions compiler;
};

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
    const Case made = randomCase(seed, options.inputs);
    std::set<std::string> known;
    int variant = -1;
    for (Shape shape : made.variants) {
      ++variant;
      // What asks for one chip's limits or instructions asks for less.
      if (options.arch != "gfx950") {
        shape.contract.clear();
        shape.scoreLowering.clear();
        shape.selectLowering.clear();
      }
      Result<runtime::Bundle> bundle = emitKernels(shape, options.arch);
      if (!bundle) {
        std::lock_guard guard(lock);
        ++refused;
        continue;
      }
      // Another way to ask for the same kernels.
      std::string texts;
      for (const runtime::Source &source : bundle->sources)
        texts += source.text;
      if (!known.insert(texts).second)
        continue;
      const std::string name =
          std::to_string(seed) + "-" + std::to_string(variant) + ".winnow";
      if (Status status = writeBundle(*bundle, name); !status) {
        failed("seed " + std::to_string(seed) + ": " + status.message() + "\n" +
               shape.describe());
        return;
      }
      std::lock_guard guard(lock);
      folder.cases.push_back({seed, variant, name,
                              bundle->entries.front().lowering, shape.text(),
                              made.inputs});
    }
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
  app.add_option("--seed", options.seed, "The first")->capture_default_str();
  app.add_option("--seeds", options.seeds, "How many")->capture_default_str();
  app.add_option("--inputs", options.inputs, "Of each description")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--jobs", options.jobs)->capture_default_str();
  tool::addCompilerOptions(app, options.compiler);
  CLI11_PARSE(app, argc, argv);
  auto compiler = tool::Compiler::make(options.compiler);
  if (!compiler) {
    std::fprintf(stderr, "winnow-export-cases: %s\n",
                 compiler.message().c_str());
    return 2;
  }
  return Exporter(options, std::move(*compiler)).run();
}
