// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles, runs and compares for the device tests.
#include "RunDescription.h"

#include "winnow/Codegen/Compile.h"
#include "winnow/Runtime/ClangCompiler.h"

#include <map>

using namespace winnow;
using namespace winnow::test;

static std::shared_ptr<const Kernels> compileUncached(const Shape &shape) {
  Result<runtime::Bundle> bundle = compileDescription(
      shape.describe(), "test.mlir", CompileOptions{"gfx950", shape.prefer});
  if (!bundle) {
    ADD_FAILURE() << shape.text() << "\n" << bundle.message();
    return nullptr;
  }
  auto kernels = std::make_shared<Kernels>();
  kernels->bundle = std::move(*bundle);
  for (uint32_t i = 0; i < kernels->bundle.sources.size(); ++i) {
    Result<runtime::Compiled> compiled =
        runtime::compileWithClang(kernels->bundle.sources[i], "gfx950");
    if (!compiled) {
      ADD_FAILURE() << shape.text() << "\n" << compiled.message();
      return nullptr;
    }
    tool::LoadedCode code;
    code.source = i;
    code.arch = "gfx950";
    code.bytes = std::move(compiled->code);
    auto object = sim::CodeObject::load(code.bytes);
    if (!object) {
      ADD_FAILURE() << shape.text() << "\n" << object.message();
      return nullptr;
    }
    code.object = *object;
    kernels->codes.push_back(std::move(code));
  }
  Result<tool::Indexer> indexer =
      tool::Indexer::of(kernels->bundle.entries.front());
  if (!indexer) {
    ADD_FAILURE() << shape.text() << "\n" << indexer.message();
    return nullptr;
  }
  kernels->indexer = *indexer;
  return kernels;
}

std::shared_ptr<const Kernels> test::compile(const Shape &shape) {
  static std::map<std::string, std::shared_ptr<const Kernels>> done;
  auto [place, fresh] = done.try_emplace(shape.prefer + shape.describe());
  if (fresh)
    place->second = compileUncached(shape);
  return place->second;
}

void test::expectRight(const Shape &shape, const tool::Lengths &lengths,
                       uint64_t seed, const Prepare &prepare) {
  SCOPED_TRACE(shape.text() + ", seed " + std::to_string(seed));
  std::shared_ptr<const Kernels> kernels = compile(shape);
  if (!kernels)
    return;
  Result<tool::Call> call = tool::randomCall(kernels->indexer, lengths, seed);
  ASSERT_TRUE(call) << call.message();
  if (prepare)
    prepare(*call);
  const tool::Call before = *call;
  tool::SimRun run;
  run.checks = sim::Checks::all(sim::CheckAction::Stop);
  auto records = tool::runOnSim(*call, kernels->codes, run);
  ASSERT_TRUE(records) << records.message();
  Result<tool::Verdict> verdict = tool::verify(before, *call);
  ASSERT_TRUE(verdict) << verdict.message();
  ASSERT_TRUE(verdict->scores.has_value());
  EXPECT_TRUE(verdict->scores->ok()) << verdict->scores->text();
  ASSERT_EQ(verdict->selection.has_value(), shape.stores);
  if (verdict->selection) {
    EXPECT_TRUE(verdict->selection->ok()) << verdict->selection->text();
  }
  ASSERT_EQ(verdict->pages.has_value(), shape.remaps);
  if (verdict->pages) {
    EXPECT_TRUE(verdict->pages->ok()) << verdict->pages->text();
  }
  EXPECT_TRUE(verdict->untouched.ok()) << verdict->untouched.text();
}

Status test::selectOnSim(tool::Call &call, const Kernels &kernels) {
  sim::Device device;
  std::vector<runtime::TensorView> views[2];
  std::vector<tool::HostTensor> *tensors[2] = {&call.arguments,
                                               &call.workspace};
  for (int group = 0; group < 2; ++group)
    for (tool::HostTensor &tensor : *tensors[group]) {
      Result<uint64_t> address = device.alloc(tensor.bytes.size(), tensor.name);
      if (!address)
        return address.takeError();
      if (Status status = device.write(*address, tensor.bytes); !status)
        return status;
      views[group].push_back(tensor.view);
      views[group].back().address = *address;
    }
  const runtime::Entry &entry = *call.indexer->entry;
  auto launches =
      runtime::resolveLaunches(entry, call.symbols, views[0], views[1]);
  if (!launches)
    return launches.takeError();
  const runtime::ResolvedLaunch &select = launches->back();
  auto stats = device.launch(
      kernels.codes.front().object, select.kernel,
      {select.grid[0], select.grid[1], select.grid[2]},
      {select.block[0], select.block[1], select.block[2]}, select.kernarg);
  if (!stats)
    return stats.takeError();
  for (int group = 0; group < 2; ++group)
    for (size_t i = 0; i < tensors[group]->size(); ++i)
      if (Status status =
              device.read(views[group][i].address, (*tensors[group])[i].bytes);
          !status)
        return status;
  return {};
}
