// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Allocation, and the texts that say what an address misses.
#include "Memory.h"

#include "Elf.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace winnow::sim {

namespace {
// Larger than any one overrun that a kernel's stride makes by mistake.
constexpr uint64_t kGuard = 1u << 20;
constexpr uint64_t kPage = 4096;
} // namespace

void Allocation::markWritten(uint64_t offset, uint64_t length) {
  if (isWritten)
    return;
  if (length == size) {
    isWritten = true;
    written = {};
    return;
  }
  if (written.empty())
    written.resize((size + 63) / 64);
  while (length) {
    uint64_t bit = offset % 64, count = std::min(length, 64 - bit);
    uint64_t mask = count == 64 ? ~uint64_t(0) : ((uint64_t(1) << count) - 1);
    written[offset / 64] |= mask << bit;
    offset += count;
    length -= count;
  }
}

bool Allocation::wasWritten(uint64_t offset, uint64_t length) const {
  if (isWritten)
    return true;
  if (written.empty())
    return length == 0;
  while (length) {
    uint64_t bit = offset % 64, count = std::min(length, 64 - bit);
    uint64_t mask = count == 64 ? ~uint64_t(0) : ((uint64_t(1) << count) - 1);
    if ((written[offset / 64] >> bit & mask) != mask)
      return false;
    offset += count;
    length -= count;
  }
  return true;
}

void Memory::assumeAllWritten() {
  for (auto &[base, allocation] : allocations) {
    allocation.isWritten = true;
    allocation.written = {};
  }
}

Result<Allocation *> Memory::alloc(uint64_t bytes, std::string_view label) {
  // The limit keeps address arithmetic here far from overflow.
  if (bytes > (uint64_t(1) << 40))
    return Error{"allocation '" + std::string(label) + "' of " +
                 std::to_string(bytes) + " bytes is over the limit of 2^40"};
  Allocation allocation;
  allocation.base = next;
  allocation.size = bytes;
  allocation.label = label;
  allocation.bytes.reset(new (std::nothrow) uint8_t[bytes ? bytes : 1]);
  if (!allocation.bytes)
    return Error{"allocation '" + std::string(label) + "' of " +
                 std::to_string(bytes) + " bytes: the host has no memory"};
  uint8_t *at = allocation.bytes.get();
  uint64_t whole = bytes / 4 * 4;
  for (uint64_t i = 0; i < whole; i += 4)
    std::memcpy(at + i, &poison, 4);
  std::memcpy(at + whole, &poison, bytes - whole);
  next += (bytes + kPage - 1) / kPage * kPage + kGuard;
  auto [place, inserted] =
      allocations.emplace(allocation.base, std::move(allocation));
  return &place->second;
}

Status Memory::free(uint64_t address) {
  auto found = allocations.find(address);
  if (found == allocations.end())
    return Error{"free of " + hex(address) + ": no allocation begins there; " +
                 describeNear(address)};
  if (!found->second.isLive)
    return Error{"free of " + hex(address) + ": '" + found->second.label +
                 "' is freed already"};
  found->second.isLive = false;
  found->second.bytes.reset();
  return {};
}

void Memory::drop(uint64_t address) { allocations.erase(address); }

Allocation *Memory::find(uint64_t address, uint64_t size) {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return nullptr;
  Allocation &candidate = std::prev(after)->second;
  return candidate.isLive && candidate.contains(address, size) ? &candidate
                                                               : nullptr;
}

bool Memory::isFreed(uint64_t address) const {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return false;
  const Allocation &below = std::prev(after)->second;
  return !below.isLive && address - below.base < below.size;
}

std::string Memory::describeNear(uint64_t address) const {
  auto text = [](const Allocation &a) {
    return "'" + a.label + "' [" + hex(a.base) + ", " + hex(a.base + a.size) +
           ")";
  };
  auto after = allocations.upper_bound(address);
  const Allocation *below =
      after == allocations.begin() ? nullptr : &std::prev(after)->second;
  const Allocation *above =
      after == allocations.end() ? nullptr : &after->second;
  if (!below && !above)
    return "nothing is allocated";
  if (below && address - below->base < below->size)
    return below->isLive
               ? "it begins inside " + text(*below) + " and ends past it"
               : "it lies in " + text(*below) + ", which is freed";
  uint64_t distanceBelow = below ? address - (below->base + below->size) : 0;
  uint64_t distanceAbove = above ? above->base - address : 0;
  if (below && (!above || distanceBelow <= distanceAbove))
    return "the nearest allocation is " + text(*below) +
           (below->isLive ? "" : " (freed)") + ", which ends " +
           std::to_string(distanceBelow) + " bytes before";
  return "the nearest allocation is " + text(*above) +
         (above->isLive ? "" : " (freed)") + ", which begins " +
         std::to_string(distanceAbove) + " bytes after";
}

Status Memory::check(const char *what, uint64_t address, uint64_t size) const {
  if (find(address, size))
    return {};
  return Error{std::string(what) + " of " + std::to_string(size) +
               " bytes at " + hex(address) + ": " + describeNear(address)};
}

} // namespace winnow::sim
