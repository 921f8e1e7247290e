// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races between waves, uninitialised reads, and the lines of an access.
#include "GlobalWatch.h"

#include "Elf.h"

#include <algorithm>

namespace winnow::sim {

namespace {
// Fields of a cell's words.
constexpr uint64_t kBytes = 15, kAtomic = 16;
constexpr unsigned kWho = 37;
constexpr uint64_t kMany = ~uint64_t(0) >> kWho;
// Of a writer: wave and clock; of readers: waves and barriers.
constexpr unsigned kWave = 5, kClock = 9, kWaves = 5, kBarriers = 21;
/// Words of a page of the host.
constexpr uint64_t kPage = 512;
const std::string kUnordered = ", with no barrier or atomic to order them";
constexpr uint64_t kClockMask = (1u << 28) - 1, kBarrierMask = 0xffff;
} // namespace

GlobalWatch::Shadow &GlobalWatch::shadowOf(Allocation &allocation) {
  if (lastAllocation == &allocation)
    return *lastShadow;
  auto [place, isNew] = shadows.try_emplace(&allocation);
  Shadow &shadow = place->second;
  if (isNew) {
    size_t dwords = allocation.size / 4 + 1;
    if (findsRaces) {
      shadow.readers = ZeroedWords(dwords);
      shadow.writers = ZeroedWords(dwords);
      shadow.isTouched.resize(dwords / kPage + 1);
    }
    if (countsDistinct)
      shadow.touched = ZeroedWords(dwords / 64 + 1);
  }
  lastAllocation = &allocation;
  lastShadow = &shadow;
  return shadow;
}

void GlobalWatch::synchronise(const Access &a, uint64_t address) {
  // What returns nothing cannot learn that others were there.
  bool takes = a.kind == AccessKind::Load || a.returnsValue,
       gives = a.kind != AccessKind::Load;
  Location &location = given[address];
  GroupOrder &order = a.order;
  const uint32_t current = order.workgroup;
  const bool wasHere = location.groups.has(current);
  if (location.workgroup == current)
    order.waves.synchronise(a.wave, location.clocks, takes, gives);
  else if (takes && wasHere)
    order.waves.meetAll(a.wave);
  if (gives && location.workgroup != current) {
    location.workgroup = current;
    location.clocks.fill(0);
    order.waves.synchronise(a.wave, location.clocks, false, true);
  }
  if (!a.isAtomicOutside)
    return;
  if (takes)
    order.take(location.groups, location.unreleased);
  if (gives) {
    // What this one has yet to acquire it cannot hand on.
    GroupSet known = order.taken;
    known.remove(order.unacquired);
    location.groups.add(known);
    location.groups.set(current);
    location.unreleased.set(current, order.holdsBack(a.wave));
  }
}

std::string GlobalWatch::writtenBefore(const Access &a, uint64_t cell) const {
  uint64_t who = cell >> kWho;
  bool byAtomic = cell & kAtomic;
  if (who != a.order.workgroup + 1u) {
    const auto group = uint32_t(who - 1);
    const std::string name =
        "workgroup number " + std::to_string(group) + " of this launch";
    if (a.isAtomicOutside && byAtomic)
      return {};
    if (!a.order.taken.has(group))
      return name + kUnordered;
    if (!byAtomic && a.order.unreleased.has(group))
      return name + ", which did not release it to the device (buffer_wbl2 "
                    "sc1) before its atomic";
    if (a.kind == AccessKind::Load && a.order.unacquired.has(group))
      return name + ", and this one has not acquired it from the device "
                    "(buffer_inv sc1) since its atomic";
    return {};
  }
  unsigned wave = cell >> kWave & 15;
  uint32_t clock = uint32_t(cell >> kClock & kClockMask);
  if (wave == a.wave || (a.isAtomicInside && byAtomic) ||
      a.order.waves.isAfter(a.wave, wave, clock))
    return {};
  return "wave " + std::to_string(wave) + " of its workgroup" + kUnordered;
}

std::string GlobalWatch::readBefore(const Access &a, uint64_t cell) const {
  uint64_t who = cell >> kWho;
  bool byAtomic = cell & kAtomic;
  if (who == a.order.workgroup + 1u) {
    if ((a.isAtomicInside && byAtomic) ||
        (cell >> kBarriers & kBarrierMask) !=
            (a.order.waves.barrierCount() & kBarrierMask))
      return {};
    for (unsigned wave = 0; wave < kMostWaves; ++wave)
      if (cell >> (kWaves + wave) & 1 && wave != a.wave &&
          !a.order.waves.hasMet(a.wave, wave))
        return "wave " + std::to_string(wave) + " of its workgroup" +
               kUnordered;
    return {};
  }
  // Of several readers one cannot say whether all are ordered before; having
  // synchronised at all is taken for it.
  bool isOrdered = who == kMany ? !a.order.taken.empty()
                                : a.order.taken.has(uint32_t(who - 1));
  if ((a.isAtomicOutside && byAtomic) || isOrdered)
    return {};
  return (who == kMany ? "other workgroups of this launch"
                       : "workgroup number " + std::to_string(who - 1) +
                             " of this launch") +
         kUnordered;
}

void GlobalWatch::note(const Access &a, const Cell &cell,
                       uint64_t bytes) const {
  const uint64_t me = uint64_t(a.order.workgroup + 1u) << kWho;
  const bool isAtomic = a.isAtomicInside;
  if (a.kind == AccessKind::Load) {
    uint64_t mine = a.reader | bytes;
    uint64_t old = cell.reader;
    bool isMine = old >> kWho == me >> kWho;
    // By atomics only while every access was one.
    uint64_t atomic = old & (isAtomic ? kAtomic : 0);
    if (!old)
      cell.reader = mine;
    else if (!isMine)
      cell.reader = kMany << kWho | (old & kBytes) | bytes | atomic;
    else if ((old ^ mine) >> kBarriers & kBarrierMask)
      // The bytes stay: other workgroups have barriers of their own.
      cell.reader = (mine & ~kAtomic) | (old & kBytes) | atomic;
    else
      cell.reader = ((old | mine) & ~kAtomic) | atomic;
    return;
  }
  uint64_t old = cell.writer;
  bool isMine = old >> kWho == me >> kWho;
  bool onlyAtomics = isAtomic && (!isMine || old & kAtomic);
  cell.writer = me | (a.order.waves.clock(a.wave) & kClockMask) << kClock |
                uint64_t(a.wave) << kWave | (isMine ? old & kBytes : 0) |
                bytes | (onlyAtomics ? kAtomic : 0);
}

void GlobalWatch::check(const Access &a, const Cell &cell, uint64_t bytes,
                        uint64_t address, const Allocation &allocation,
                        Problems &problems) const {
  std::string who;
  const char *did = "written";
  if (cell.writer & bytes)
    who = writtenBefore(a, cell.writer);
  if (who.empty() && a.kind != AccessKind::Load && cell.reader & bytes) {
    who = readBefore(a, cell.reader);
    did = "read";
  }
  if (!who.empty() && problems.race.empty())
    problems.race = hex(address) + " in '" + allocation.label +
                    "', which lane " + std::to_string(a.lane) +
                    (a.kind == AccessKind::Load ? " reads" : " writes") +
                    ", was " + did + " by " + who;
  note(a, cell, bytes);
}

void GlobalWatch::access(Allocation &allocation, GroupOrder &order,
                         unsigned wave, AccessKind kind, Scope scope,
                         bool returnsValue, uint64_t address, unsigned size,
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
  if (findsRaces && shadow.readers && shadow.writers) {
    bool isAtomic = kind == AccessKind::Atomic;
    const bool isAtomicInside = isAtomic || scope != Scope::None;
    const Access a{
        order,
        wave,
        kind,
        isAtomicInside,
        isAtomic || scope == Scope::Device,
        returnsValue,
        lane,
        uint64_t(order.workgroup + 1u) << kWho |
            (order.waves.barrierCount() & kBarrierMask) << kBarriers |
            uint64_t(1) << (kWaves + wave) | (isAtomicInside ? kAtomic : 0)};
    if (a.isAtomicInside)
      synchronise(a, address);
    if (kind == AccessKind::Store && scope != Scope::Device)
      order.store(wave);
    for (uint64_t d = first; d <= last; ++d) {
      uint64_t bytes = kBytes;
      if (d == first)
        bytes &= kBytes << (offset % 4);
      if (d == last)
        bytes &= kBytes >> (3 - (offset + size - 1) % 4);
      // Most dwords are read alone, or read again by who did before.
      const Cell cell{shadow.writers[d], shadow.readers[d]};
      if (kind == AccessKind::Load) {
        if (!shadow.isTouched[d / kPage]) {
          shadow.isTouched[d / kPage] = true;
          cell.reader = 0;
        }
        const uint64_t mine = a.reader | bytes, old = cell.reader;
        bool isShared =
            old >> kWho == kMany && (old & (kBytes | kAtomic)) == kBytes;
        if (!shadow.hasWriter || !(cell.writer & bytes)) {
          if (!old)
            cell.reader = mine;
          if (!old || old == mine || isShared)
            continue;
        }
      } else {
        shadow.hasWriter = true;
      }
      check(a, cell, bytes, allocation.base + 4 * d, allocation, problems);
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
