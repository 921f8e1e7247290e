// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Findings by kind and instruction.
#include "Findings.h"

namespace winnow::sim {

std::string_view nameOf(CheckKind kind) {
  static constexpr std::string_view names[] = {
      "out-of-bounds",     "use-after-free", "uninitialised-global",
      "uninitialised-lds", "lds-race",       "global-race",
      "divergent-barrier", "missing-wait",   "deadlock",
      "runaway-loop"};
  static_assert(std::size(names) == size_t(CheckKind::Count));
  return kind < CheckKind::Count ? names[size_t(kind)] : "unknown check";
}

void Findings::report(CheckKind kind, Wave &w, const Instruction &in,
                      const std::string &what, uint64_t count) {
  if (what.empty() || !isOn(kind))
    return;
  std::string text = std::string(nameOf(kind)) + ": " + what;
  if (of(kind) == CheckAction::Stop)
    return w.stop(in, text);
  auto [place, isNew] = entries.try_emplace({kind, in.address});
  Entry &entry = place->second;
  uint64_t workgroup = w.group->linearId;
  if (isNew || workgroup < entry.workgroup) {
    entry.finding.kind = kind;
    entry.finding.message = placeOf(*input, w, in) + ": " + text;
    entry.workgroup = workgroup;
    entry.order = w.group->executed;
  }
  entry.finding.count += count;
}

void Findings::merge(const Findings &other) {
  for (const auto &[key, theirs] : other.entries) {
    auto [place, isNew] = entries.try_emplace(key, theirs);
    if (isNew)
      continue;
    Entry &mine = place->second;
    uint64_t count = mine.finding.count + theirs.finding.count;
    if (theirs.workgroup < mine.workgroup)
      mine = theirs;
    mine.finding.count = count;
  }
}

std::vector<Finding> Findings::all() const {
  // The map has kinds and instructions in order already; they break ties.
  std::multimap<std::pair<uint64_t, uint64_t>, const Entry *> sorted;
  for (const auto &[key, entry] : entries)
    sorted.emplace(std::pair(entry.workgroup, entry.order), &entry);
  std::vector<Finding> out;
  for (const auto &[when, entry] : sorted)
    out.push_back(entry->finding);
  return out;
}

uint8_t *Wave::outside(const Instruction &at, CheckKind kind,
                       const std::string &what) {
  group->findings->report(kind, *this, at, what);
  if (state == WaveState::Stopped)
    return nullptr;
  for (size_t i = 0; i < sizeof(sink); i += 4)
    std::memcpy(sink + i, &group->poison, 4);
  return sink;
}

} // namespace winnow::sim
