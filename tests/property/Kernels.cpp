// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels.h"

#include "winnow/Codegen/Compile.h"
#include "winnow/Runtime/ClangCompiler.h"

using namespace winnow;
using namespace winnow::test;

Result<runtime::Bundle> test::emitKernels(const Shape &shape,
                                          const std::string &arch) {
  return compileDescription(shape.describe(), "test.mlir",
                            CompileOptions{arch, shape.prefer});
}

Result<std::shared_ptr<const Kernels>>
test::compileKernels(runtime::Bundle bundle) {
  auto kernels = std::make_shared<Kernels>();
  kernels->bundle = std::move(bundle);
  for (uint32_t i = 0; i < kernels->bundle.sources.size(); ++i) {
    Result<runtime::Compiled> compiled =
        runtime::compileWithClang(kernels->bundle.sources[i], "gfx950");
    if (!compiled)
      return compiled.takeError();
    tool::LoadedCode code;
    code.source = i;
    code.arch = "gfx950";
    code.bytes = std::move(compiled->code);
    auto object = sim::CodeObject::load(code.bytes);
    if (!object)
      return object.takeError();
    code.object = *object;
    kernels->codes.push_back(std::move(code));
  }
  Result<tool::Indexer> indexer =
      tool::Indexer::of(kernels->bundle.entries.front());
  if (!indexer)
    return indexer.takeError();
  kernels->indexer = *indexer;
  return std::shared_ptr<const Kernels>(std::move(kernels));
}

Status test::selectOnSim(tool::Call &call, const Kernels &kernels,
                         const sim::Checks &checks) {
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
        return status.takeError();
      views[group].push_back(tensor.view);
      views[group].back().address = *address;
    }
  const runtime::Entry &entry = *call.indexer->entry;
  auto symbols = runtime::bindArguments(entry, views[0]);
  if (!symbols)
    return symbols.takeError();
  auto launches = runtime::resolveLaunches(entry, *symbols, views[0], views[1]);
  if (!launches)
    return launches.takeError();
  const runtime::ResolvedLaunch &select = launches->back();
  sim::LaunchOptions options;
  options.checks = checks;
  auto stats =
      device.launch(kernels.codes.front().object, select.kernel,
                    {select.grid[0], select.grid[1], select.grid[2]},
                    {select.block[0], select.block[1], select.block[2]},
                    select.kernarg, options);
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
