// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One bundle for several architectures and lowerings: what one description
// becomes for each.
#include "winnow/Codegen/Compile.h"

#include <algorithm>

using namespace winnow;

namespace {

/// The index of a source with that text, which gets a free name if it has to
/// be added: file names are unique in a bundle.
uint32_t place(runtime::Bundle &bundle, runtime::Source source,
               const std::string &arch) {
  std::vector<runtime::Source> &sources = bundle.sources;
  for (uint32_t i = 0; i < sources.size(); ++i)
    if (sources[i].text == source.text) {
      std::vector<std::string> &archs = sources[i].archs;
      if (std::find(archs.begin(), archs.end(), arch) == archs.end())
        archs.push_back(arch);
      return i;
    }
  auto taken = [&](const std::string &name) {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const auto &other) { return other.name == name; });
  };
  std::string stem = source.name.substr(0, source.name.rfind('.')) + "-";
  // One that is for a single architecture is told apart by that.
  stem += source.archs.size() == 1 ? source.archs.front() : source.lowering;
  for (int count = 1; taken(source.name); ++count) {
    source.name = stem;
    if (count > 1)
      source.name += "-" + std::to_string(count);
    source.name += ".hip";
  }
  sources.push_back(std::move(source));
  return static_cast<uint32_t>(sources.size() - 1);
}

/// Equal but for the architecture, which is the device's in the end.
bool sameCall(runtime::Entry a, runtime::Entry b) {
  a.facts.erase("arch");
  b.facts.erase("arch");
  // The launches say what it is; who chose it does not matter here.
  a.schedules.clear();
  b.schedules.clear();
  return a == b;
}

/// Adds to `bundle` what `other`, the same description for `arch`, has beyond
/// it: an entry that differs in more than its architecture becomes a variant
/// behind those that are there, with its source.
void merge(runtime::Bundle &bundle, runtime::Bundle other,
           const std::string &arch) {
  std::vector<uint32_t> places;
  places.reserve(other.sources.size());
  for (runtime::Source &source : other.sources)
    places.push_back(place(bundle, std::move(source), arch));
  for (runtime::Entry &entry : other.entries) {
    for (runtime::Launch &launch : entry.launches)
      launch.source = places[launch.source];
    if (std::none_of(bundle.entries.begin(), bundle.entries.end(),
                     [&](const auto &known) { return sameCall(known, entry); }))
      bundle.entries.push_back(std::move(entry));
  }
}

/// Whether `bundle` has each entry of `other` for `arch` in the same lowering,
/// if perhaps with another schedule.
bool hasAll(const runtime::Bundle &bundle, const runtime::Bundle &other,
            const std::string &arch) {
  return std::ranges::all_of(other.entries, [&](const auto &entry) {
    return std::ranges::any_of(bundle.variants(entry.name), [&](auto *known) {
      const std::vector<std::string> &archs =
          bundle.sources[known->launches.front().source].archs;
      return known->lowering == entry.lowering &&
             std::ranges::find(archs, arch) != archs.end();
    });
  });
}

} // namespace

Result<runtime::Bundle>
winnow::compileVariants(std::string_view text, std::string_view name,
                        const std::vector<std::string> &archs,
                        CompileOptions options) {
  Result<runtime::Bundle> bundle = Error{"no architecture is named"};
  for (size_t i = 0; i < archs.size(); ++i) {
    options.arch = archs[i];
    Result<runtime::Bundle> one = compileDescription(text, name, options);
    if (!one)
      return one;
    if (i == 0)
      bundle = std::move(one);
    else
      merge(*bundle, std::move(*one), archs[i]);
  }
  if (!options.prefer.empty() || !bundle)
    return bundle;
  // After the better ones of every architecture. Where it refuses an operation
  // the entry is the same as before and not added twice.
  // Schedules that somebody fixed are those of the better one's kernels.
  options.prefer = "generic";
  options.schedule.clear();
  options.ignoreOwnSchedule = true;
  for (const std::string &arch : archs) {
    options.arch = arch;
    Result<runtime::Bundle> portable = compileDescription(text, name, options);
    if (portable && !hasAll(*bundle, *portable, arch))
      merge(*bundle, std::move(*portable), arch);
  }
  return bundle;
}
