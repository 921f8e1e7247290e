// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Handles.h"

using namespace winnow::capi;

HandleTable &winnow::capi::handles() {
  // Never destroyed: threads may outlive the program's static objects.
  static HandleTable *table = new HandleTable;
  return *table;
}

uint64_t HandleTable::add(Kind kind, void *object) {
  std::lock_guard<std::mutex> guard(writing);
  uint32_t index = used;
  if (!free.empty()) {
    index = free.back();
    free.pop_back();
  } else {
    if (used == kPart * kParts)
      return 0;
    if (used % kPart == 0) {
      owned.push_back(std::make_unique<Part>());
      parts[used / kPart].store(owned.back().get(), std::memory_order_release);
    }
    ++used;
  }
  Place &place = const_cast<Place &>(*at(index));
  place.generation = (place.generation + 1) & 0xffffff;
  const uint64_t handle = static_cast<uint64_t>(kind) << 56 |
                          static_cast<uint64_t>(place.generation) << 32 | index;
  place.object.store(object, std::memory_order_relaxed);
  place.handle.store(handle, std::memory_order_release);
  return handle;
}

void *HandleTable::remove(Kind kind, uint64_t handle) {
  std::lock_guard<std::mutex> guard(writing);
  void *object = find(kind, handle);
  if (!object)
    return nullptr;
  const auto index = static_cast<uint32_t>(handle);
  Place &place = const_cast<Place &>(*at(index));
  place.handle.store(0, std::memory_order_release);
  place.object.store(nullptr, std::memory_order_relaxed);
  free.push_back(index);
  return object;
}
