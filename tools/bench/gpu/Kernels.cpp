// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

using namespace winnow;
using namespace winnow::bench;
using runtime::TensorView;

namespace {

/// The code of one of the entry's sources that runs on the device, or null.
const runtime::CodeObject *codeFor(const runtime::Bundle &bundle,
                                   uint32_t source, const std::string &arch) {
  for (const runtime::CodeObject &code : bundle.codeObjects)
    if (code.source == source && runtime::runsOn(code.arch, arch))
      return &code;
  return nullptr;
}

/// The first variant of an entry all of whose code runs on the device, or null.
const runtime::Entry *variantFor(const runtime::Bundle &bundle,
                                 const std::string &entry,
                                 const std::string &arch) {
  for (const runtime::Entry *variant : bundle.variants(entry))
    if (std::all_of(variant->launches.begin(), variant->launches.end(),
                    [&](const runtime::Launch &launch) {
                      return codeFor(bundle, launch.source, arch);
                    }))
      return variant;
  return nullptr;
}

Error missing(const std::string &what, const std::string &arch) {
  return Error{fmt::format("the bundle has no {} with code for {}; build it "
                           "with --arch from what --describe prints",
                           what, arch)};
}

bool isOf(const std::string &kernel, Part part) {
  return part == Part::All ||
         kernel.ends_with(part == Part::Score ? "_score" : "_select");
}

uint64_t aligned(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

} // namespace

Status Kernels::check(Session &session, const runtime::Bundle &bundle,
                      const std::vector<std::string> &entries) {
  const std::string &arch = session.device().info().arch;
  std::vector<std::string> absent;
  for (const std::string &entry : entries)
    if (!variantFor(bundle, entry, arch))
      absent.push_back("'" + entry + "'");
  if (absent.empty())
    return {};
  return missing(fmt::format("{} {}", absent.size() == 1 ? "entry" : "entries",
                             fmt::join(absent, ", ")),
                 arch);
}

Result<std::unique_ptr<Kernels>> Kernels::load(Session &session,
                                               const runtime::Bundle &bundle,
                                               const std::string &entry) {
  const std::string &arch = session.device().info().arch;
  const runtime::Entry *variant = variantFor(bundle, entry, arch);
  if (!variant)
    return missing("entry '" + entry + "'", arch);
  std::unique_ptr<Kernels> kernels(new Kernels);
  Result<host::Indexer> shape = host::Indexer::of(*variant);
  if (!shape)
    return shape.takeError();
  kernels->shape = *shape;
  for (const runtime::Launch &launch : variant->launches) {
    auto module = session.device().loadModule(
        codeFor(bundle, launch.source, arch)->bytes);
    if (!module)
      return module.takeError();
    Result<void *> function = (*module)->function(launch.kernel);
    if (!function)
      return function.takeError();
    kernels->functions.emplace_back(launch.kernel, *function);
    kernels->modules.push_back(std::move(*module));
  }
  return kernels;
}

bool Kernels::hasPart(Part part) const {
  return std::any_of(functions.begin(), functions.end(),
                     [&](const auto &at) { return isOf(at.first, part); });
}

Result<uint64_t>
Kernels::workspaceBytes(const std::vector<TensorView> &arguments) const {
  Result<runtime::Symbols> symbols = runtime::bindArguments(entry(), arguments);
  if (!symbols)
    return symbols.takeError();
  Result<std::vector<TensorView>> tensors =
      runtime::workspaceTensors(entry(), *symbols);
  if (!tensors)
    return tensors.takeError();
  uint64_t bytes = 0;
  for (const TensorView &tensor : *tensors) {
    Result<uint64_t> span = runtime::byteSpan(tensor);
    if (!span)
      return span.takeError();
    bytes += aligned(*span);
  }
  return bytes;
}

Result<Kernels::Bound> Kernels::bind(const std::vector<TensorView> &arguments,
                                     uint64_t workspace,
                                     uint64_t workspaceBytes) const {
  Result<runtime::Symbols> symbols = runtime::bindArguments(entry(), arguments);
  if (!symbols)
    return symbols.takeError();
  Result<std::vector<TensorView>> tensors =
      runtime::workspaceTensors(entry(), *symbols);
  if (!tensors)
    return tensors.takeError();
  const uint64_t end = workspace + workspaceBytes;
  for (TensorView &tensor : *tensors) {
    tensor.address = workspace;
    Result<uint64_t> span = runtime::byteSpan(tensor);
    if (!span)
      return span.takeError();
    workspace += aligned(*span);
  }
  if (workspace > end)
    return Error{fmt::format("entry '{}' needs {} more bytes of workspace",
                             entry().name, workspace - end)};
  return runtime::resolveLaunches(entry(), *symbols, arguments, *tensors);
}

Status Kernels::enqueue(Session &session, const Bound &bound, Part part) const {
  for (const runtime::ResolvedLaunch &launch : bound) {
    if (!isOf(launch.kernel, part))
      continue;
    for (const auto &[name, function] : functions) {
      if (name != launch.kernel)
        continue;
      const auto &[gridX, gridY, gridZ] = launch.grid;
      const auto &[blockX, blockY, blockZ] = launch.block;
      Status status = session.device().launch(
          function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ},
          launch.dynamicLdsBytes, session.stream(), launch.kernarg.data(),
          launch.kernarg.size());
      if (!status)
        return status;
    }
  }
  return {};
}
