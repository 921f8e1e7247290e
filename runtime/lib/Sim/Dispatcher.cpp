// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The queue of workgroups, and the bound on those that are there at once.
#include "Dispatcher.h"

#include <algorithm>

namespace winnow::sim {

namespace {
// A compute unit of gfx950: 4 SIMDs with 512 vector registers a lane and up to
// 8 waves each (AMD CDNA4 ISA; LLVM AMDGPUUsage), 160 KiB of LDS, and no more
// than 32 workgroups.
constexpr uint64_t kSimds = 4, kRegisters = 512, kRegisterGranule = 8,
                   kWavesOfSimd = 8, kLds = 160 * 1024, kGroups = 32;
/// Workgroups among which a shuffled launch chooses: more would start close to
/// in the order of their places.
constexpr uint64_t kShuffled = 12;
} // namespace

uint64_t mostResident(const LaunchInput &input) {
  const KernelDescriptor &d = input.kernel->descriptor;
  uint64_t items = uint64_t(input.block.x) * input.block.y * input.block.z;
  uint64_t waves = (items + kLanes - 1) / kLanes;
  uint64_t rows = (d.vectorRegisters() + kRegisterGranule - 1) /
                  kRegisterGranule * kRegisterGranule;
  uint64_t wavesOfSimd = std::clamp<uint64_t>(
      kRegisters / std::max<uint64_t>(rows, 1), 1, kWavesOfSimd);
  uint64_t groups = std::min(kGroups, wavesOfSimd * kSimds / waves);
  uint64_t lds = uint64_t(d.groupSegmentSize) + input.options.dynamicLdsBytes;
  if (lds)
    groups = std::min(groups, kLds / lds);
  return std::max<uint64_t>(groups, 1) *
         std::max<uint32_t>(input.options.computeUnits, 1);
}

Dispatcher::Work Dispatcher::next() {
  std::unique_lock guard(lock);
  Work work;
  for (;;) {
    // What comes after a fault in the order does not matter any more.
    std::erase_if(parked, [&](const std::unique_ptr<Resident> &resident) {
      bool isMoot = resident->place > faultAt;
      present -= isMoot;
      return isMoot;
    });
    const bool hasFresh =
        nextPlace < total && nextPlace < faultAt && present < mostResident;
    const size_t ready = countReady();
    bool starts = hasFresh;
    if (isShuffled && ready)
      starts = hasFresh && present < kShuffled && random.below(ready + 1) == 0;
    if (starts) {
      work.kind = Work::Kind::Start;
      work.place = nextPlace++;
      work.linear = numberAt(work.place);
      ++present;
      ++running;
      return work;
    }
    if (ready) {
      size_t skip = isShuffled ? random.below(ready) : 0;
      auto chosen =
          std::find_if(parked.begin(), parked.end(),
                       [&](const std::unique_ptr<Resident> &resident) {
                         return isReady(*resident) && skip-- == 0;
                       });
      work.kind = Work::Kind::Resume;
      work.resident = std::move(*chosen);
      parked.erase(chosen);
      ++running;
      return work;
    }
    if (!running) {
      if (!parked.empty()) {
        work.kind = Work::Kind::Deadlock;
        work.stuck = std::move(parked);
        parked.clear();
        std::sort(work.stuck.begin(), work.stuck.end(),
                  [](const auto &a, const auto &b) {
                    return a->group.linearId < b->group.linearId;
                  });
        // Whoever takes them counts as at work with each.
        running += work.stuck.size();
      }
      changed.notify_all();
      return work;
    }
    changed.wait(guard);
  }
}

size_t Dispatcher::countReady() const {
  return size_t(std::count_if(parked.begin(), parked.end(),
                              [&](const std::unique_ptr<Resident> &resident) {
                                return isReady(*resident);
                              }));
}

void Dispatcher::publish(Resident &resident) {
  if (resident.group.changes != resident.published)
    ++currentVersion;
  resident.published = resident.group.changes;
}

void Dispatcher::ended(Resident &resident) {
  std::lock_guard guard(lock);
  publish(resident);
  --present;
  --running;
  changed.notify_all();
}

void Dispatcher::park(std::unique_ptr<Resident> resident, uint64_t version) {
  std::lock_guard guard(lock);
  resident->stuckAt = version;
  // Its own changes come before what it saw last, unless others changed
  // something since.
  bool isCurrent = version == currentVersion;
  publish(*resident);
  if (isCurrent)
    resident->stuckAt = currentVersion;
  parked.push_back(std::move(resident));
  --running;
  changed.notify_all();
}

void Dispatcher::yield(std::unique_ptr<Resident> resident) {
  std::lock_guard guard(lock);
  publish(*resident);
  resident->stuckAt = 0;
  parked.push_back(std::move(resident));
  --running;
  changed.notify_all();
}

void Dispatcher::fault(uint64_t place, std::string what) {
  std::lock_guard guard(lock);
  if (place < faultAt) {
    faultAt = place;
    text = std::move(what);
  }
  --present;
  --running;
  changed.notify_all();
}

uint64_t Dispatcher::version() {
  std::lock_guard guard(lock);
  return currentVersion;
}
uint64_t Dispatcher::dispatched() {
  std::lock_guard guard(lock);
  return nextPlace;
}
uint64_t Dispatcher::drawSeed() {
  std::lock_guard guard(lock);
  return random.next();
}

} // namespace winnow::sim
