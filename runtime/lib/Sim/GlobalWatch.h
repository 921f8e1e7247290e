// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which wave of which workgroup wrote and read each dword of global memory
// during a launch. Waves run one after another here and at the same time on
// hardware: what one takes from another is a race unless something orders them.
#ifndef WINNOW_SIM_GLOBALWATCH_H
#define WINNOW_SIM_GLOBALWATCH_H

#include "Effects.h"
#include "WaveOrder.h"
#include "ZeroedWords.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace winnow::sim {

/// A set of workgroups, a bit each.
class GroupSet {
public:
  void clear() { words.clear(); }
  bool empty() const { return words.empty(); }
  bool has(uint32_t group) const {
    return group / 64 < words.size() && words[group / 64] >> (group % 64) & 1;
  }
  void set(uint32_t group, bool is = true) {
    if (group / 64 >= words.size()) {
      if (!is)
        return;
      words.resize(group / 64 + 1);
    }
    const uint64_t bit = uint64_t(1) << (group % 64);
    words[group / 64] = (words[group / 64] & ~bit) | (is ? bit : 0);
  }
  void add(const GroupSet &other) {
    words.resize(std::max(words.size(), other.words.size()));
    for (size_t i = 0; i < other.words.size(); ++i)
      words[i] |= other.words[i];
  }
  void remove(const GroupSet &other) {
    for (size_t i = 0; i < std::min(words.size(), other.words.size()); ++i)
      words[i] &= ~other.words[i];
  }

private:
  std::vector<uint64_t> words;
};

/// What orders the accesses of one workgroup that is on its way. Between
/// workgroups it takes three steps, as dies have caches of their own: the one
/// releases what it stored (buffer_wbl2 sc1), an atomic of its is taken by an
/// atomic of the other, and that one acquires (buffer_inv sc1).
struct GroupOrder {
  uint32_t workgroup = 0;
  WaveOrder waves;
  /// Workgroups whose atomics were taken, which of those had not released all
  /// that they stored, and which were taken since the last acquire.
  GroupSet taken, unreleased, unacquired;

  void start(uint64_t number) {
    workgroup = uint32_t(number);
    waves.start();
    for (GroupSet *set : {&taken, &unreleased, &unacquired})
      set->clear();
    dirty = 0;
  }
  /// A plain store of a wave, which caches may hold back.
  void store(unsigned wave) {
    dirty |= 1u << wave;
    dirtyClocks[wave] = waves.clock(wave);
  }
  /// A wave releases what it and the waves that it comes after have stored.
  void release(unsigned wave) { dirty &= ~storedBefore(wave); }
  void acquire() { unacquired.clear(); }
  /// An atomic takes what these workgroups gave, of which some held stores
  /// back. What was in order before stays so.
  void take(const GroupSet &groups, const GroupSet &holding) {
    GroupSet released = taken, acquired = taken, fresh = groups, held = holding;
    released.remove(unreleased);
    acquired.remove(unacquired);
    fresh.remove(acquired);
    held.remove(released);
    taken.add(groups);
    unacquired.add(fresh);
    unreleased.remove(groups);
    unreleased.add(held);
  }
  /// Whether stores that come before this wave are still held back.
  bool holdsBack(unsigned wave) const { return storedBefore(wave) != 0; }

private:
  uint32_t storedBefore(unsigned wave) const {
    uint32_t found = 0;
    for (unsigned other = 0; other < kMostWaves; ++other)
      if (dirty >> other & 1 &&
          (other == wave || waves.isAfter(wave, other, dirtyClocks[other])))
        found |= 1u << other;
    return found;
  }
  uint32_t dirty = 0;
  WaveClocks dirtyClocks{};
};

/// How far a load or store is an atomic, from its scope bits.
enum class Scope : uint8_t { None, Workgroup, Device };

class GlobalWatch {
public:
  GlobalWatch(bool findsRaces, bool findsUninitialised, bool countsDistinct)
      : findsRaces(findsRaces), findsUninitialised(findsUninitialised),
        countsDistinct(countsDistinct) {}

  struct Problems {
    std::string race, uninitialised;
  };
  /// An access of a wave that lies in `allocation`.
  void access(Allocation &allocation, GroupOrder &order, unsigned wave,
              AccessKind kind, Scope scope, bool returnsValue, uint64_t address,
              unsigned size, unsigned lane, Problems &problems);

  /// Bytes of the different dwords that were accessed.
  uint64_t distinctBytes() const { return 4 * distinctDwords; }

private:
  /// Who accessed a dword last; 0 for nobody. Fields from the lowest bit: the
  /// bytes that it accessed, whether by atomics, the wave and its clock (of a
  /// writer) or the waves and the number of barriers (of readers), the
  /// workgroup plus one.
  struct Cell {
    uint64_t &writer;
    uint64_t &reader;
  };
  struct Shadow {
    /// A word for each dword; zero pages until touched, as most buffers are
    /// larger than what is used, and most are only read.
    ZeroedWords readers, writers;
    bool hasWriter = false;
    /// Pages of `readers` that were written to. Reading a page first would make
    /// the kernel map it twice.
    std::vector<bool> isTouched;
    ZeroedWords touched;
  };
  Shadow &shadowOf(Allocation &allocation);
  struct Access {
    GroupOrder &order;
    unsigned wave;
    AccessKind kind;
    /// Towards waves of the same workgroup, and towards other workgroups.
    bool isAtomicInside, isAtomicOutside;
    /// An atomic update that says what was there before.
    bool returnsValue;
    unsigned lane;
    /// A reader's cell, but for the bytes.
    uint64_t reader;
  };
  void synchronise(const Access &a, uint64_t address);
  /// Who makes it a race, or "".
  std::string writtenBefore(const Access &a, uint64_t cell) const;
  std::string readBefore(const Access &a, uint64_t cell) const;
  void note(const Access &a, const Cell &cell, uint64_t bytes) const;
  void check(const Access &a, const Cell &cell, uint64_t bytes,
             uint64_t address, const Allocation &allocation,
             Problems &problems) const;

  bool findsRaces, findsUninitialised, countsDistinct;
  uint64_t distinctDwords = 0;
  Allocation *lastAllocation = nullptr;
  Shadow *lastShadow = nullptr;
  std::map<Allocation *, Shadow> shadows;
  /// What atomics gave to a location.
  struct Location {
    /// Workgroups that are before who takes it, and which of them held stores
    /// back.
    GroupSet groups, unreleased;
    /// The last workgroup that gave, and how far its waves are known.
    uint32_t workgroup = ~0u;
    WaveClocks clocks{};
  };
  std::unordered_map<uint64_t, Location> given;
};

/// What active lanes touch together: different bytes, and the lines they are
/// in.
struct Touched {
  unsigned bytes = 0;
  unsigned lines64 = 0;
  unsigned lines128 = 0;
};
Touched touchedBy(const uint64_t *addresses, uint64_t exec, unsigned size);

} // namespace winnow::sim

#endif // WINNOW_SIM_GLOBALWATCH_H
