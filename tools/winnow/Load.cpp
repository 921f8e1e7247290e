// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Load.h"

#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/Files.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace winnow;
using namespace winnow::tool;
using Clock = std::chrono::steady_clock;

namespace {

// A description is a page of text; this only keeps /dev/zero out.
constexpr uint64_t kMaxDescriptionBytes = uint64_t(16) << 20;

std::chrono::microseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() -
                                                               start);
}

Result<LoadedCode> ready(LoadedCode code, const std::string &name) {
  // The simulated device reads no other architecture's.
  if (code.arch != "gfx950")
    return code;
  Result<std::shared_ptr<const sim::CodeObject>> object =
      sim::CodeObject::load(code.bytes);
  if (!object)
    return Error{name + " for " + code.arch + ": " + object.message()};
  code.object = std::move(*object);
  return code;
}

} // namespace

Result<Loaded> tool::load(const std::string &path, const std::string &arch,
                          const std::string &prefer, bool orReference) {
  CompileOptions options;
  options.arch = arch;
  options.prefer = prefer;
  return load(path, options, orReference);
}

/// "m3_prefill in mfma, generic; m3_decode in mfma".
static std::string loweringsText(const runtime::Bundle &bundle) {
  std::set<std::string_view> known;
  std::string text;
  for (const runtime::Entry &entry : bundle.entries)
    if (known.insert(entry.name).second)
      text += (text.empty() ? "" : "; ") + entry.name + " in " +
              bundle.loweringNames(entry.name);
  return text;
}

/// Reads a file; `compile` makes a bundle of a description.
static Result<Loaded> loadWith(
    const std::string &path, const CompileOptions &options,
    const std::function<Result<runtime::Bundle>(std::string_view)> &compile) {
  const std::string &prefer = options.prefer;
  const auto start = Clock::now();
  Result<std::vector<std::byte>> bytes =
      runtime::readFile(path, runtime::kMaxBundleBytes);
  if (!bytes)
    return bytes.takeError();
  Loaded loaded;
  if (runtime::looksLikeBundle(*bytes)) {
    Result<runtime::Bundle> bundle = runtime::readBundle(*bytes);
    if (!bundle)
      return Error{path + ": " + bundle.message()};
    if (!options.schedule.empty())
      return Error{path + ": the schedule '" + options.schedule +
                   "' cannot be had: the file is a bundle, whose kernels are "
                   "made; give the description"};
    loaded.bundle = std::move(*bundle);
    std::vector<runtime::Entry> &entries = loaded.bundle.entries;
    auto front = entries.begin();
    for (auto at = front; at != entries.end(); ++at)
      if (at->lowering == prefer)
        std::rotate(front++, at, at + 1);
    if (!prefer.empty() && front == entries.begin())
      return Error{path + ": the bundle has no entry with the lowering '" +
                   prefer + "'; it has: " + loweringsText(loaded.bundle)};
  } else {
    if (bytes->size() > kMaxDescriptionBytes)
      return Error{path + ": neither a bundle nor a description: " +
                   std::to_string(bytes->size()) +
                   " bytes, a description has "
                   "at most " +
                   std::to_string(kMaxDescriptionBytes)};
    const std::string_view text(reinterpret_cast<const char *>(bytes->data()),
                                bytes->size());
    Result<runtime::Bundle> bundle = compile(text);
    if (!bundle)
      return bundle.takeError();
    loaded.bundle = std::move(*bundle);
    loaded.fromDescription = true;
  }
  loaded.time = since(start);
  return loaded;
}

Result<Loaded> tool::load(const std::string &path,
                          const CompileOptions &options, bool orReference) {
  return loadWith(path, options, [&](std::string_view text) {
    Result<runtime::Bundle> bundle = compileDescription(text, path, options);
    // What is wrong with the text itself is said in the same words.
    if (!bundle && orReference)
      bundle = describeDescription(text, path, options);
    return bundle;
  });
}

Result<Loaded> tool::loadVariants(const std::string &path,
                                  const std::vector<std::string> &archs,
                                  const CompileOptions &options) {
  return loadWith(path, options, [&](std::string_view text) {
    return compileVariants(text, path, archs, options);
  });
}

Result<LoadedCode> tool::compileSource(const runtime::Bundle &bundle,
                                       uint32_t source, const std::string &arch,
                                       Compiler &compiler) {
  const runtime::Source &text = bundle.sources[source];
  Result<runtime::CachedCode> compiled = compiler.compile(text, arch);
  if (!compiled)
    return compiled.takeError();
  LoadedCode code;
  code.source = source;
  code.arch = arch;
  code.time = compiled->time;
  code.cached = compiled->origin != runtime::CodeOrigin::Compiled;
  code.bytes = *compiled->code;
  return ready(std::move(code), text.name);
}

Result<std::vector<LoadedCode>> tool::loadCode(const runtime::Bundle &bundle,
                                               const runtime::Entry &entry,
                                               const std::string &arch,
                                               Compiler &compiler) {
  std::vector<LoadedCode> codes;
  for (const runtime::Launch &launch : entry.launches) {
    bool loaded = false;
    for (const LoadedCode &code : codes)
      loaded |= code.source == launch.source;
    if (loaded)
      continue;
    const runtime::CodeObject *own = nullptr;
    for (const runtime::CodeObject &object : bundle.codeObjects)
      if (object.source == launch.source && object.arch == arch)
        own = &object;
    Result<LoadedCode> code = Error{};
    if (own) {
      LoadedCode prebuilt;
      prebuilt.source = own->source;
      prebuilt.arch = arch;
      prebuilt.prebuilt = true;
      prebuilt.bytes = own->bytes;
      code = ready(std::move(prebuilt), bundle.sources[own->source].name);
    } else {
      code = compileSource(bundle, launch.source, arch, compiler);
    }
    if (!code)
      return code.takeError();
    codes.push_back(std::move(*code));
  }
  return codes;
}
