// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hands workgroups to host threads: in launch order or a shuffled one, as many
// at once as the device holds. One that waits for another is set aside until
// memory changed; when all that are there wait and nothing can change, they are
// in deadlock.
#ifndef WINNOW_SIM_DISPATCHER_H
#define WINNOW_SIM_DISPATCHER_H

#include "Resident.h"
#include "Shuffle.h"

#include <condition_variable>
#include <mutex>

namespace winnow::sim {

class Dispatcher {
public:
  /// `shuffle` as in LaunchOptions.
  Dispatcher(uint64_t total, uint64_t mostResident, uint64_t shuffle)
      : total(total), mostResident(mostResident), isShuffled(shuffle != 0),
        order(total, shuffle), random(shuffle) {}

  /// What a host thread is to do next.
  struct Work {
    enum class Kind : uint8_t { Start, Resume, Deadlock, Done };
    Kind kind = Kind::Done;
    uint64_t linear = 0, place = 0;
    std::unique_ptr<Resident> resident;
    /// All that are stuck, the first in launch order first; Deadlock only.
    std::vector<std::unique_ptr<Resident>> stuck;
  };
  /// Blocks while others may still make work.
  Work next();

  /// A workgroup ended, or was given up.
  void ended(Resident &resident);
  /// A workgroup cannot go on in the memory that it saw at `version`.
  void park(std::unique_ptr<Resident> resident, uint64_t version);
  /// A workgroup lets others go first, though it could go on.
  void yield(std::unique_ptr<Resident> resident);
  /// The workgroup at `place` of the order met a fault: later ones need not
  /// run.
  void fault(uint64_t place, std::string text);

  /// The state of memory, as far as others published it.
  uint64_t version();
  uint64_t dispatched();
  /// The workgroup at `place` of the order.
  uint64_t numberAt(uint64_t place) const {
    return isShuffled ? order(place) : place;
  }
  /// A seed for one host thread's own choices.
  uint64_t drawSeed();
  /// The fault of the first workgroup in the order, or "".
  std::string faultText() const { return text; }

private:
  void publish(Resident &resident);
  bool isReady(const Resident &resident) const {
    return resident.stuckAt != currentVersion;
  }
  size_t countReady() const;

  const uint64_t total, mostResident;
  const bool isShuffled;
  const Permutation order;
  RandomBits random;
  std::mutex lock;
  std::condition_variable changed;
  uint64_t nextPlace = 0, present = 0, running = 0, currentVersion = 1;
  uint64_t faultAt = ~uint64_t(0);
  std::string text;
  std::vector<std::unique_ptr<Resident>> parked;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_DISPATCHER_H
