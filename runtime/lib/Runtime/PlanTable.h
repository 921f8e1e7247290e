// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans by what was asked for. Reading is a probe of an array of atomic
// pointers; only adding a key takes a lock. Nothing is ever removed, so that a
// reader needs no count of references.
#ifndef WINNOW_LIB_RUNTIME_PLANTABLE_H
#define WINNOW_LIB_RUNTIME_PLANTABLE_H

#include "winnow/Runtime/Plan.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>

namespace winnow::runtime {

/// A request with the texts owned elsewhere.
struct PlanKey {
  uint64_t bundle = 0, device = 0;
  PlanRequest request;

  bool operator==(const PlanKey &other) const {
    const PlanRequest &a = request, &b = other.request;
    return bundle == other.bundle && device == other.device &&
           a.maxSeqLen == b.maxSeqLen && a.maxRequests == b.maxRequests &&
           a.maxQueryLen == b.maxQueryLen && a.maxRows == b.maxRows &&
           a.preferredOnly == b.preferredOnly && a.entry == b.entry &&
           a.prefer == b.prefer;
  }

  uint64_t hash() const {
    uint64_t value = 0x9e3779b97f4a7c15;
    auto mix = [&](uint64_t part) {
      // The multiply-and-fold step of wyhash: cheap, and every bit counts.
      const unsigned __int128 product =
          static_cast<unsigned __int128>(value ^ part) * 0xa0761d6478bd642f;
      value =
          static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    };
    auto text = [&](std::string_view part) {
      mix(part.size());
      for (size_t at = 0; at < part.size(); at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, part.data() + at,
                    std::min<size_t>(8, part.size() - at));
        mix(word);
      }
    };
    mix(bundle);
    mix(device);
    mix(static_cast<uint64_t>(request.maxSeqLen));
    mix(static_cast<uint64_t>(request.maxRequests));
    mix(static_cast<uint64_t>(request.maxQueryLen));
    mix(static_cast<uint64_t>(request.maxRows));
    mix(request.preferredOnly);
    text(request.entry);
    text(request.prefer);
    return value;
  }
};

class PlanTable {
public:
  struct Slot {
    PlanKey key;
    std::string entry, prefer; // what the key's texts point at
    uint64_t hash = 0;
    std::atomic<const Plan *> plan = nullptr;
    std::mutex resolving; // one thread makes the plan, the others wait for it
  };

  PlanTable() { grow(64); }

  /// The slot of a key, or null.
  Slot *find(const PlanKey &key, uint64_t hash) const {
    const Index &index = *current.load(std::memory_order_acquire);
    for (uint64_t at = hash;; ++at) {
      Slot *slot = index.cells[at & index.mask].load(std::memory_order_acquire);
      if (!slot || (slot->hash == hash && slot->key == key))
        return slot;
    }
  }

  /// The slot of a key, made if need be.
  Slot &insert(const PlanKey &key, uint64_t hash) {
    std::lock_guard<std::mutex> guard(writing);
    if (Slot *slot = find(key, hash))
      return *slot;
    Slot &slot = slots.emplace_back();
    slot.entry = key.request.entry;
    slot.prefer = key.request.prefer;
    slot.key = key;
    slot.key.request.entry = slot.entry;
    slot.key.request.prefer = slot.prefer;
    slot.hash = hash;
    const Index &index = *current.load(std::memory_order_relaxed);
    if (slots.size() * 2 > index.mask + 1)
      grow((index.mask + 1) * 2);
    else
      place(index, slot);
    return slot;
  }

private:
  struct Index {
    uint64_t mask = 0;
    std::unique_ptr<std::atomic<Slot *>[]> cells;
  };

  static void place(const Index &index, Slot &slot) {
    for (uint64_t at = slot.hash;; ++at) {
      std::atomic<Slot *> &cell = index.cells[at & index.mask];
      if (!cell.load(std::memory_order_relaxed)) {
        cell.store(&slot, std::memory_order_release);
        return;
      }
    }
  }

  void grow(uint64_t cells) {
    auto index = std::make_unique<Index>();
    index->mask = cells - 1;
    index->cells = std::make_unique<std::atomic<Slot *>[]>(cells);
    for (Slot &slot : slots)
      place(*index, slot);
    current.store(index.get(), std::memory_order_release);
    // Readers may still be in the old ones, which together are no larger.
    indices.push_back(std::move(index));
  }

  std::atomic<const Index *> current = nullptr;
  std::deque<Slot> slots;
  std::vector<std::unique_ptr<Index>> indices;
  std::mutex writing;
};

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_PLANTABLE_H
