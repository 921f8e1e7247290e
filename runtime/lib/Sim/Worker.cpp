// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop that runs a workgroup: waves take turns, a barrier ends a turn, and
// a long turn ends by itself so that waves may wait on each other.
#include "Worker.h"

#include "IndexedOperands.h"

#include <algorithm>

namespace winnow::sim {

namespace {
constexpr unsigned kTurn = 4096;
/// Turns of a shuffled launch are up to two to this power.
constexpr unsigned kShuffledTurnBits = 9;
/// Rounds without a change before waves are looked at for spinning; short turns
/// often change nothing.
constexpr unsigned kPatience = 1, kShuffledPatience = 64;
/// Stores that go on and on without changing anything are looked for from here
/// on, at intervals that double.
constexpr uint64_t kFirstLongSearch = uint64_t(1) << 20;
} // namespace

Worker::Worker(const LaunchInput &input, Dispatcher &dispatcher)
    : input(input), dispatcher(dispatcher), findings(input),
      instructionLimit(findings.isOn(CheckKind::RunawayLoop)
                           ? input.options.instructionLimit
                           : ~uint64_t(0)),
      hits(input.program->instructions.size()),
      isShuffled(input.options.shuffle != 0),
      leastPatience(isShuffled ? kShuffledPatience : kPatience),
      random(dispatcher.drawSeed()) {
  if (input.options.profile || input.options.checks.watches())
    observer = std::make_unique<Observer>(input, findings);
}

size_t Worker::wavesOfGroup() const {
  unsigned items = input.block.x * input.block.y * input.block.z;
  return (items + kLanes - 1) / kLanes;
}

void Worker::run() {
  for (;;) {
    Dispatcher::Work work = dispatcher.next();
    if (work.kind == Dispatcher::Work::Kind::Done)
      return;
    if (work.kind == Dispatcher::Work::Kind::Deadlock) {
      breakDeadlock(std::move(work.stuck));
      continue;
    }
    std::unique_ptr<Resident> resident = std::move(work.resident);
    if (!resident) {
      if (spare.empty()) {
        resident = std::make_unique<Resident>(input, findings);
      } else {
        resident = std::move(spare.back());
        spare.pop_back();
      }
      resident->start(input, work.linear, work.place);
      resident->patience = leastPatience;
      if (observer)
        observer->startWorkgroup(resident->group, resident->watch);
    }
    resident->group.findings = &findings;
    if (observer)
      observer->resume(resident->watch);
    Outcome outcome = runGroup(*resident);
    if (outcome == Outcome::Stuck) {
      uint64_t seen = resident->stuckAt;
      resident->quiet = resident->patience = leastPatience;
      dispatcher.park(std::move(resident), seen);
      continue;
    }
    if (outcome == Outcome::Yielded) {
      dispatcher.yield(std::move(resident));
      continue;
    }
    bytesLoaded += std::exchange(resident->group.bytesLoaded, 0);
    bytesStored += std::exchange(resident->group.bytesStored, 0);
    if (outcome == Outcome::Fault)
      dispatcher.fault(resident->place, faultText);
    else
      dispatcher.ended(*resident);
    spare.push_back(std::move(resident));
  }
}

Worker::Outcome Worker::runGroup(Resident &resident) {
  Workgroup &group = resident.group;
  const bool finds = findings.isOn(CheckKind::Deadlock);
  unsigned &quiet = resident.quiet, &patience = resident.patience;
  uint64_t longSearch = kFirstLongSearch;
  while (longSearch <= group.executed)
    longSearch *= 2;
  for (;;) {
    const bool isLong = group.executed >= longSearch;
    const bool searches = finds && (quiet >= patience || isLong);
    if (searches)
      resident.stuckAt = dispatcher.version();
    group.comparesStores = searches && isLong;
    const uint64_t before = group.changes;
    unsigned ended = 0, waiting = 0, spinning = 0;
    bool hasMoved = false;
    const size_t first = isShuffled ? random.below(group.waves.size()) : 0;
    for (size_t i = 0; i < group.waves.size(); ++i) {
      Wave &wave = group.waves[(first + i) % group.waves.size()];
      if (isRunnable(wave)) {
        const uint64_t turn =
            isShuffled ? random.length(kShuffledTurnBits) : kTurn;
        // Longer and longer loops are found.
        uint64_t most = uint64_t(kTurn) * std::min(patience, 1024u);
        bool ok = searches   ? searchTurn(resident, wave, most)
                  : observer ? runTurn<true>(wave, turn)
                             : runTurn<false>(wave, turn);
        if (!ok)
          return Outcome::Fault;
        spinning += searches && resident.polls[wave.index].isSpinning;
        hasMoved |= !isRunnable(wave);
      }
      ended += wave.state == WaveState::Ended;
      waiting += wave.state == WaveState::AtBarrier;
    }
    group.comparesStores = false;
    if (ended == group.waves.size())
      return Outcome::Ended;
    if (ended + waiting == group.waves.size()) {
      // Waves that ended no longer count for a barrier.
      if (!passBarrier(group))
        return Outcome::Fault;
      hasMoved = true;
    }
    const bool isQuiet = group.changes == before && !hasMoved;
    if (searches && isQuiet &&
        ended + waiting + spinning == group.waves.size()) {
      Wave *endless = endlessLoop(resident);
      if (!endless || !findings.isOn(CheckKind::RunawayLoop))
        return Outcome::Stuck;
      return stopLoop(*endless, "the loop goes round for ever: the wave's "
                                "registers repeat, and it reads no memory")
                 ? Outcome::Ended
                 : Outcome::Fault;
    }
    if (searches) {
      patience *= 2;
      quiet = 0;
      longSearch = isLong ? 2 * longSearch : longSearch;
    } else {
      quiet = isQuiet ? quiet + 1 : 0;
      if (!isQuiet)
        patience = leastPatience;
    }
    if (isShuffled)
      return Outcome::Yielded;
  }
}

template <bool Observed>
void Worker::runIndexed(Wave &wave, uint64_t turnEnd, uint64_t &executed) {
  const Instruction *instructions = input.program->instructions.data();
  const KernelDescriptor &d = input.kernel->descriptor;
  const unsigned registers = std::min(d.vectorRegisters(), d.accumOffset());
  Instruction moved;
  while (executed < turnEnd && wave.state == WaveState::Indexing) {
    int32_t at = wave.pc++;
    const Instruction &in = instructions[at];
    ++hits[size_t(at)];
    ++executed;
    if (!shiftOperands(wave, in, registers, moved))
      return;
    if constexpr (Observed)
      observer->beforeIndexed(wave, moved, size_t(at));
    if (wave.state == WaveState::Indexing)
      moved.handler(wave, moved);
    if (wave.state == WaveState::Stopped)
      wave.stoppedAt = &in;
  }
}

bool Worker::endStep(Wave &wave, uint64_t executed) {
  wave.group->executed = executed;
  if (wave.state != WaveState::Stopped)
    return true;
  describeFault(wave, *wave.stoppedAt, wave.group->fault);
  return false;
}

bool Worker::step(Wave &wave) {
  uint64_t executed = wave.group->executed;
  if (wave.state == WaveState::Indexing) {
    if (observer)
      runIndexed<true>(wave, executed + 1, executed);
    else
      runIndexed<false>(wave, executed + 1, executed);
    return endStep(wave, executed);
  }
  int32_t at = wave.pc++;
  const Instruction &in = input.program->instructions[size_t(at)];
  ++hits[size_t(at)];
  if (observer)
    observer->before(wave, in, size_t(at));
  if (wave.state == WaveState::Running)
    in.handler(wave, in);
  return endStep(wave, executed + 1);
}

template <bool Observed> bool Worker::runTurn(Wave &wave, uint64_t turn) {
  const Instruction *instructions = input.program->instructions.data();
  Workgroup &group = *wave.group;
  uint64_t turnEnd = std::min(group.executed + turn, instructionLimit);
  uint64_t executed = group.executed;
  if (wave.state == WaveState::Indexing)
    runIndexed<Observed>(wave, turnEnd, executed);
  while (executed < turnEnd && wave.state == WaveState::Running) {
    int32_t at = wave.pc++;
    const Instruction &in = instructions[at];
    ++hits[size_t(at)];
    ++executed;
    if constexpr (Observed)
      observer->before(wave, in, size_t(at));
    if (!Observed || wave.state == WaveState::Running)
      in.handler(wave, in);
    if (wave.state == WaveState::Indexing) [[unlikely]]
      runIndexed<Observed>(wave, turnEnd, executed);
    if ((executed & 63) == 0)
      group.executed = executed;
  }
  if (!isRunnable(wave))
    return endStep(wave, executed);
  group.executed = executed;
  return executed < instructionLimit || reachLimit(wave);
}

bool Worker::passBarrier(Workgroup &group) {
  if (observer)
    observer->passBarrier(group);
  for (Wave &wave : group.waves) {
    if (wave.state == WaveState::AtBarrier)
      wave.state = WaveState::Running;
    if (wave.state == WaveState::Stopped) {
      describeFault(wave, *wave.stoppedAt, group.fault);
      return false;
    }
  }
  return true;
}

bool Worker::reachLimit(Wave &wave) {
  return stopLoop(wave, "the workgroup executed " +
                            std::to_string(wave.group->executed) +
                            " wave instructions, the limit of this launch");
}

bool Worker::stopLoop(Wave &wave, const std::string &what) {
  Workgroup &group = *wave.group;
  const Instruction &in = input.program->instructions[size_t(wave.pc)];
  findings.report(CheckKind::RunawayLoop, wave, in, what);
  if (wave.state == WaveState::Stopped) {
    describeFault(wave, in, group.fault);
    return false;
  }
  giveUp(group);
  return true;
}

void Worker::giveUp(Workgroup &group) {
  for (Wave &wave : group.waves)
    wave.state = WaveState::Ended;
}

void Worker::addTo(LaunchStats &stats, Findings &into) const {
  uint64_t counts[unsigned(InstructionClass::Count)] = {};
  for (size_t i = 0; i < hits.size(); ++i)
    counts[unsigned(input.program->instructions[i].kind)] += hits[i];
  auto of = [&](InstructionClass c) { return counts[unsigned(c)]; };
  for (uint64_t count : counts)
    stats.instructions += count;
  stats.valu += of(InstructionClass::Valu);
  stats.salu += of(InstructionClass::Salu);
  stats.scalarMemory += of(InstructionClass::ScalarMemory);
  stats.vectorLoads += of(InstructionClass::VectorLoad);
  stats.vectorStores += of(InstructionClass::VectorStore);
  stats.vectorAtomics += of(InstructionClass::VectorAtomic);
  stats.lds += of(InstructionClass::Lds);
  stats.mfma += of(InstructionClass::Mfma);
  stats.branches += of(InstructionClass::Branch);
  stats.waits += of(InstructionClass::Wait);
  stats.bytesLoaded += bytesLoaded;
  stats.bytesStored += bytesStored;
  into.merge(findings);
  if (observer)
    observer->finish(stats);
}

} // namespace winnow::sim
