// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Merge.h"

#include <algorithm>

using namespace winnow;
using namespace winnow::tool;

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
  const std::string stem = source.name.substr(0, source.name.rfind('.'));
  for (int count = 1; taken(source.name); ++count)
    source.name = stem + "-" + source.lowering +
                  (count == 1 ? "" : "-" + std::to_string(count)) + ".hip";
  sources.push_back(std::move(source));
  return static_cast<uint32_t>(sources.size() - 1);
}

/// Equal but for the architecture, which is the device's in the end.
bool sameCall(runtime::Entry a, runtime::Entry b) {
  a.facts.erase("arch");
  b.facts.erase("arch");
  return a == b;
}

} // namespace

void tool::mergeBundle(runtime::Bundle &bundle, runtime::Bundle other,
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
