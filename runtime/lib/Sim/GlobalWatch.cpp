// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races between workgroups, uninitialised reads, and the lines of an access.
#include "GlobalWatch.h"

#include <algorithm>
#include <cstdlib>

namespace winnow::sim {

namespace {
// Layout of a cell's words.
constexpr uint32_t kBytes = 15, kAtomic = 16;
constexpr unsigned kWho = 5;
constexpr uint32_t kMany = ~0u >> kWho;
} // namespace

void GlobalWatch::Shadow::Free::operator()(void *p) const { std::free(p); }

GlobalWatch::Shadow &GlobalWatch::shadowOf(Allocation &allocation) {
  if (lastAllocation == &allocation)
    return *lastShadow;
  auto [place, isNew] = shadows.try_emplace(&allocation);
  Shadow &shadow = place->second;
  if (isNew) {
    size_t dwords = allocation.size / 4 + 1;
    if (findsRaces)
      shadow.cells.reset(
          static_cast<Cell *>(std::calloc(dwords, sizeof(Cell))));
    if (countsDistinct)
      shadow.touched.reset(
          static_cast<uint64_t *>(std::calloc(dwords / 64 + 1, 8)));
  }
  lastAllocation = &allocation;
  lastShadow = &shadow;
  return shadow;
}

void GlobalWatch::synchronise(uint64_t address, bool takes, bool gives) {
  std::vector<uint64_t> &location = given[address];
  auto merge = [](std::vector<uint64_t> &to,
                  const std::vector<uint64_t> &from) {
    to.resize(std::max(to.size(), from.size()));
    for (size_t i = 0; i < from.size(); ++i)
      to[i] |= from[i];
  };
  if (takes)
    merge(ordered, location);
  if (gives) {
    merge(location, ordered);
    location.resize(std::max<size_t>(location.size(), current / 64 + 1));
    location[current / 64] |= uint64_t(1) << (current % 64);
  }
}

void GlobalWatch::check(Cell &cell, AccessKind kind, bool isAtomic,
                        uint32_t bytes, uint64_t address, unsigned lane,
                        const Allocation &allocation, Problems &problems) {
  uint32_t me = current + 1;
  auto race = [&](const char *what, uint32_t who) {
    if (!problems.race.empty())
      return;
    problems.race =
        hex(address) + " in '" + allocation.label + "', which lane " +
        std::to_string(lane) +
        (kind == AccessKind::Load ? " reads" : " writes") + ", was " + what +
        " by " +
        (who == kMany ? std::string("other workgroups")
                      : "workgroup number " + std::to_string(who - 1)) +
        " of this launch, with no atomic to order them";
  };
  uint32_t writer = cell.writer >> kWho, reader = cell.reader >> kWho;
  if (writer && writer != me && cell.writer & bytes &&
      !(isAtomic && cell.writer & kAtomic) && !isOrderedAfter(writer - 1))
    race("written", writer);
  if (kind == AccessKind::Load) {
    // By atomics only while every access was one.
    if (!reader)
      cell.reader = me << kWho | bytes | (isAtomic ? kAtomic : 0);
    else if (reader == me)
      cell.reader = (cell.reader | bytes) & (isAtomic ? ~0u : ~kAtomic);
    else
      cell.reader = kMany << kWho | (cell.reader & kBytes) | bytes |
                    (cell.reader & (isAtomic ? kAtomic : 0));
    return;
  }
  // Of several readers one cannot say whether all are ordered before; having
  // synchronised at all is taken for it.
  bool isOrdered =
      reader == kMany ? !ordered.empty() : reader && isOrderedAfter(reader - 1);
  if (reader && reader != me && cell.reader & bytes &&
      !(isAtomic && cell.reader & kAtomic) && !isOrdered)
    race("read", reader);
  uint32_t kept = writer == me ? cell.writer & kBytes : 0;
  bool onlyAtomics = isAtomic && (writer != me || cell.writer & kAtomic);
  cell.writer = me << kWho | kept | bytes | (onlyAtomics ? kAtomic : 0);
}

void GlobalWatch::access(Allocation &allocation, AccessKind kind,
                         bool isCoherent, uint64_t address, unsigned size,
                         unsigned lane, Problems &problems) {
  uint64_t offset = address - allocation.base;
  if (findsUninitialised && !allocation.isWritten) {
    if (kind != AccessKind::Store && problems.uninitialised.empty() &&
        !allocation.wasWritten(offset, size))
      problems.uninitialised = std::to_string(size) + " bytes at " +
                               hex(address) + " in '" + allocation.label +
                               "', which lane " + std::to_string(lane) +
                               " reads, were not all written before";
    if (kind != AccessKind::Load)
      allocation.markWritten(offset, size);
  }
  if (!findsRaces && !countsDistinct)
    return;
  Shadow &shadow = shadowOf(allocation);
  uint64_t first = offset / 4, last = (offset + size - 1) / 4;
  if (findsRaces && shadow.cells) {
    bool isAtomic = kind == AccessKind::Atomic || isCoherent;
    if (isAtomic)
      synchronise(address, kind != AccessKind::Store, kind != AccessKind::Load);
    for (uint64_t d = first; d <= last; ++d) {
      uint32_t bytes = kBytes;
      if (d == first)
        bytes &= kBytes << (offset % 4);
      if (d == last)
        bytes &= kBytes >> (3 - (offset + size - 1) % 4);
      check(shadow.cells[d], kind, isAtomic, bytes, allocation.base + 4 * d,
            lane, allocation, problems);
    }
  }
  if (countsDistinct && shadow.touched)
    for (uint64_t d = first; d <= last; ++d) {
      uint64_t &word = shadow.touched[d / 64];
      distinctDwords += !(word >> (d % 64) & 1);
      word |= uint64_t(1) << (d % 64);
    }
}

Touched touchedBy(const uint64_t *addresses, uint64_t exec, unsigned size) {
  uint64_t sorted[kLanes];
  unsigned count = 0;
  for (unsigned l = 0; l < kLanes; ++l)
    if (exec >> l & 1)
      sorted[count++] = addresses[l];
  std::sort(sorted, sorted + count);
  Touched out;
  // One past the last byte, and past the last lines, counted so far.
  uint64_t end = 0, line64 = 0, line128 = 0;
  for (unsigned i = 0; i < count; ++i) {
    uint64_t begin = std::max(sorted[i], end), last = sorted[i] + size;
    if (begin >= last)
      continue;
    out.bytes += unsigned(last - begin);
    end = last;
    auto lines = [&](unsigned bits, uint64_t &seen, unsigned &total) {
      uint64_t from = std::max(begin >> bits, seen);
      uint64_t to = ((last - 1) >> bits) + 1;
      if (to > from)
        total += unsigned(to - from);
      seen = std::max(seen, to);
    };
    lines(6, line64, out.lines64);
    lines(7, line128, out.lines128);
  }
  return out;
}

} // namespace winnow::sim
