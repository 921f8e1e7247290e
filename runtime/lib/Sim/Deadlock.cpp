// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waves that wait for what will not come. A wave whose registers and place in
// the program come again, while memory stood still and it did not read the
// clock, goes round for ever unless somebody else writes (its loop is a
// function of that state). When all waves of a workgroup that have not ended do
// so, or are at a barrier, the workgroup is stuck until memory changes.
#include "Elf.h"
#include "Worker.h"

#include <algorithm>

namespace winnow::sim {

namespace {

/// All that decides what a wave does next, memory aside. Scratch counts as
/// memory: a store there is a change.
class WaveSnapshot {
public:
  void take(const Wave &w) {
    pc = w.pc;
    state = w.state;
    scc = w.scc;
    mode = w.mode;
    std::copy(std::begin(w.sgpr), std::end(w.sgpr), sgpr.begin());
    registers = w.registers;
    changes = w.group->changes;
  }
  bool isAgain(const Wave &w) const {
    return w.pc == pc && w.state == state && w.group->changes == changes &&
           w.scc == scc && w.mode == mode &&
           std::equal(sgpr.begin(), sgpr.end(), std::begin(w.sgpr)) &&
           registers == w.registers;
  }

private:
  int32_t pc = 0;
  WaveState state = WaveState::Running;
  bool scc = false;
  uint32_t mode = 0;
  uint64_t changes = 0;
  std::array<uint32_t, kScalarRegisters> sgpr{};
  std::vector<uint32_t> registers;
};

constexpr uint64_t kBufferBase = (uint64_t(1) << 48) - 1;

/// Where a lane of a buffer access reaches, if that is within its range.
uint64_t bufferAddress(const Wave &w, const Instruction &in, unsigned lane) {
  const uint64_t descriptor = w.pair(in.source[2].index);
  uint64_t at = (descriptor & kBufferBase) + uint64_t(int64_t(in.immediate)) +
                readScalar32(w, in.scale[0]);
  unsigned next = in.source[0].index;
  auto take = [&] { return uint64_t(w.vgprs[next++ * kLanes + lane]); };
  if (in.usesIndex)
    at += take() * (descriptor >> 48 & 0x3fff);
  if (in.usesOffset)
    at += take();
  const uint32_t last = w.sgpr[in.source[2].index + 3];
  if (last >> 23 & 1) // ADD_TID_ENABLE: the stride has 18 bits
    at += uint64_t(lane) *
          ((descriptor >> 48 & 0x3fff) | (last >> 15 & 0xf) << 14);
  return at;
}

/// The memory that an instruction is about to read, by its first active lane.
void notePoll(Wave &w, const Instruction &in, Poll &poll) {
  uint64_t exec = w.exec();
  unsigned lane = exec ? unsigned(std::countr_zero(exec)) : 0;
  switch (in.kind) {
  case InstructionClass::ScalarMemory: {
    std::string_view name = in.operation->name;
    if (in.source[0].kind != Operand::Kind::Sgpr ||
        (name.find("_load_") == name.npos &&
         name.find("_atomic_") == name.npos))
      return;
    uint64_t base = readScalar64(w, in.source[0]);
    uint64_t at = (in.isBuffer ? base & kBufferBase : base) +
                  uint64_t(int64_t(in.immediate));
    if (in.source[1].kind != Operand::Kind::None)
      at += readScalar32(w, in.source[1]);
    poll = {&in, at & ~uint64_t(3), 0, false, false};
    return;
  }
  case InstructionClass::VectorLoad:
  case InstructionClass::VectorAtomic: {
    std::string_view name = in.operation->name;
    if (exec && in.isBuffer)
      poll = {&in, bufferAddress(w, in, lane), lane, false, false};
    if (!exec || !(name.starts_with("flat_") || name.starts_with("global_")))
      return;
    LaneAddresses addresses;
    if (!laneAddresses(w, in, 4, addresses))
      return;
    uint64_t at = addresses.at[lane];
    bool isLds = at >= kSharedBase && at - kSharedBase < kApertureSize;
    poll = {&in, isLds ? at - kSharedBase : at, lane, isLds, false};
    return;
  }
  case InstructionClass::Lds:
    if (exec && in.source[0].kind == Operand::Kind::Vgpr)
      poll = {&in,
              uint32_t(w.row(in.source[0].index)[lane] +
                       uint32_t(in.immediate | in.immediate2 << 8)),
              lane, true, false};
    return;
  default:
    return;
  }
}

} // namespace

bool Worker::searchTurn(Resident &resident, Wave &wave, uint64_t most) {
  Poll &poll = resident.polls[wave.index];
  poll = {};
  WaveSnapshot snapshot;
  snapshot.take(wave);
  // A snapshot at each power of two of steps is in the loop sooner or later,
  // and then the loop is shorter than the next interval.
  uint64_t nextSnapshot = 64;
  for (uint64_t steps = 0; steps < most; ++steps) {
    if (wave.group->executed >= instructionLimit)
      return reachLimit(wave);
    const Instruction &in = input.program->instructions[size_t(wave.pc)];
    notePoll(wave, in, poll);
    if (!step(wave))
      return false;
    if (!isRunnable(wave))
      return true;
    if (snapshot.isAgain(wave)) {
      poll.isSpinning = true;
      return true;
    }
    if (steps + 1 == nextSnapshot) {
      snapshot.take(wave);
      poll = {};
      nextSnapshot *= 2;
    }
  }
  return true;
}

Wave *Worker::endlessLoop(Resident &resident) {
  for (Wave &wave : resident.group.waves) {
    const Poll &poll = resident.polls[wave.index];
    if (isRunnable(wave) && poll.isSpinning && !poll.at)
      return &wave;
  }
  return nullptr;
}

/// "waves 1, 3 wait at the barrier at +0x40".
static std::string othersText(const LaunchInput &input,
                              const Resident &resident, const Wave &blamed) {
  std::string spinning, waiting;
  const Workgroup &group = resident.group;
  const Instruction *barrier = nullptr;
  for (const Wave &wave : group.waves) {
    if (&wave == &blamed)
      continue;
    bool isWaiting = wave.state == WaveState::AtBarrier;
    if (isWaiting)
      barrier = &input.program->instructions[size_t(wave.pc - 1)];
    if (isWaiting || wave.state == WaveState::Running ||
        wave.state == WaveState::Indexing) {
      std::string &list = isWaiting ? waiting : spinning;
      list += (list.empty() ? " " : ", ") + std::to_string(wave.index);
    }
  }
  std::string text;
  if (!waiting.empty())
    text += "; waves" + waiting + " wait at the barrier at +" +
            hex(barrier->address - input.kernel->entry);
  if (!spinning.empty())
    text += "; waves" + spinning + " spin too";
  return text;
}

void Worker::breakDeadlock(std::vector<std::unique_ptr<Resident>> stuck) {
  const uint64_t total = uint64_t(input.grid.x) * input.grid.y * input.grid.z;
  const uint64_t dispatched = dispatcher.dispatched();
  bool isFirst = true;
  for (std::unique_ptr<Resident> &resident : stuck) {
    Workgroup &group = resident->group;
    group.findings = &findings;
    auto spins = std::find_if(group.waves.begin(), group.waves.end(),
                              [&](const Wave &wave) {
                                return resident->polls[wave.index].isSpinning &&
                                       wave.state == WaveState::Running;
                              });
    Wave &wave = spins == group.waves.end() ? group.waves.front() : *spins;
    const Poll &poll = resident->polls[wave.index];
    const Instruction &in =
        poll.at ? *poll.at : input.program->instructions[size_t(wave.pc)];
    std::string what = "the wave spins";
    if (poll.at && poll.isLds) {
      what += " on LDS byte " + hex(poll.address);
    } else if (poll.at) {
      const Allocation *holds = input.memory->find(poll.address, 1);
      what += " on " + hex(poll.address);
      if (holds)
        what += " in '" + holds->label + "'";
    }
    if (poll.at && in.kind != InstructionClass::ScalarMemory)
      what += " (lane " + std::to_string(poll.lane) + ")";
    what += poll.at ? ", which no wave that is left will write"
                    : " and nothing can end it";
    what += othersText(input, *resident, wave);
    if (stuck.size() > 1)
      what += "; " + std::to_string(stuck.size()) + " workgroups are stuck";
    if (dispatched < total)
      what += "; workgroup number " +
              std::to_string(dispatcher.numberAt(dispatched)) +
              " is not dispatched: the " + std::to_string(stuck.size()) +
              " that are fill the device";
    findings.report(CheckKind::Deadlock, wave, in, what);
    bytesLoaded += std::exchange(group.bytesLoaded, 0);
    bytesStored += std::exchange(group.bytesStored, 0);
    // The first one in launch order tells of all.
    if (wave.state == WaveState::Stopped && isFirst) {
      describeFault(wave, in, group.fault);
      dispatcher.fault(resident->place, faultText);
    } else {
      giveUp(group);
      dispatcher.ended(*resident);
    }
    isFirst = false;
    spare.push_back(std::move(resident));
  }
}

} // namespace winnow::sim
