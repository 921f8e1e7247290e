// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The initial state of waves (LLVM AMDGPUUsage, "Initial Kernel Execution
// State"), and the loop that runs a workgroup: waves take turns, a barrier ends
// a turn, and a long turn ends by itself so that waves may wait on each other.
#include "Launch.h"

#include "IndexedOperands.h"
#include "Observer.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace winnow::sim {

namespace {

constexpr unsigned kTurn = 4096;

/// Counts and state of one host thread; merged at the end.
class Worker {
public:
  explicit Worker(const LaunchInput &input)
      : input(input), hits(input.program->instructions.size()) {
    const KernelDescriptor &d = input.kernel->descriptor;
    workItems = input.block.x * input.block.y * input.block.z;
    unsigned waves = (workItems + kLanes - 1) / kLanes;
    rows = d.vectorRegisters();
    if (input.options.profile || input.options.checks.any())
      observer = std::make_unique<Observer>(input);
    group.program = input.program;
    group.codeBase = input.codeBase;
    group.privateSegmentSize = input.kernel->info->privateSegmentSize;
    group.lds.resize(d.groupSegmentSize + input.options.dynamicLdsBytes);
    for (unsigned i = 0; i < waves; ++i)
      group.waves.emplace_back(*input.memory);
    for (Wave &wave : group.waves) {
      wave.registers.resize(rows * kLanes);
      wave.vgprs = wave.registers.data();
      wave.scratch.resize(size_t(group.privateSegmentSize) * kLanes);
    }
  }

  /// False after a fault.
  bool runWorkgroup(uint64_t linear) {
    const Dim3 &grid = input.grid;
    group.linearId = linear;
    group.id[0] = uint32_t(linear % grid.x);
    group.id[1] = uint32_t(linear / grid.x % grid.y);
    group.id[2] = uint32_t(linear / grid.x / grid.y);
    group.executed = 0;
    fillPoison(group.lds.data(), group.lds.size());
    for (unsigned i = 0; i < group.waves.size(); ++i)
      startWave(group.waves[i], i);
    if (observer)
      observer->startWorkgroup(group);
    for (;;) {
      unsigned ended = 0, waiting = 0;
      for (Wave &wave : group.waves) {
        if (isRunnable(wave) &&
            !(observer ? runTurn<true>(wave) : runTurn<false>(wave)))
          return false;
        ended += wave.state == WaveState::Ended;
        waiting += wave.state == WaveState::AtBarrier;
      }
      if (ended == group.waves.size())
        return true;
      // Waves that ended no longer count for a barrier.
      if (ended + waiting == group.waves.size() && !passBarrier())
        return false;
    }
  }

  std::string fault() const { return faultText; }

  void addTo(LaunchStats &stats) const {
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
    stats.bytesLoaded += group.bytesLoaded;
    stats.bytesStored += group.bytesStored;
    if (observer)
      observer->finish(stats);
  }
  size_t waveCount() const { return group.waves.size(); }

private:
  void fillPoison(uint8_t *bytes, size_t size) const {
    for (size_t i = 0; i < size; i += 4)
      std::memcpy(bytes + i, &input.poison, std::min<size_t>(4, size - i));
  }

  bool passBarrier() {
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

  static bool isRunnable(const Wave &wave) {
    return wave.state == WaveState::Running ||
           wave.state == WaveState::Indexing;
  }

  /// Instructions whose vector registers M0 moves.
  template <bool Observed>
  void runIndexed(Wave &wave, uint64_t turnEnd, uint64_t &executed) {
    const Instruction *instructions = input.program->instructions.data();
    const unsigned registers =
        std::min(rows, input.kernel->descriptor.accumOffset());
    Instruction moved;
    while (executed < turnEnd && wave.state == WaveState::Indexing) {
      int32_t at = wave.pc++;
      const Instruction &in = instructions[at];
      ++hits[at];
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

  template <bool Observed> bool runTurn(Wave &wave) {
    const Instruction *instructions = input.program->instructions.data();
    uint64_t turnEnd =
        std::min(group.executed + kTurn, input.options.instructionLimit);
    uint64_t executed = group.executed;
    if (wave.state == WaveState::Indexing)
      runIndexed<Observed>(wave, turnEnd, executed);
    while (executed < turnEnd && wave.state == WaveState::Running) {
      int32_t at = wave.pc++;
      const Instruction &in = instructions[at];
      ++hits[at];
      ++executed;
      if constexpr (Observed)
        observer->before(wave, in, size_t(at));
      if (!Observed || wave.state == WaveState::Running)
        in.handler(wave, in);
      if (wave.state == WaveState::Indexing) [[unlikely]]
        runIndexed<Observed>(wave, turnEnd, executed);
      if (wave.state != WaveState::Running) [[unlikely]] {
        if (wave.state == WaveState::Indexing) // the turn ends
          break;
        group.executed = executed;
        if (wave.state == WaveState::Stopped) {
          describeFault(wave, *wave.stoppedAt, group.fault);
          return false;
        }
        return true;
      }
      if ((executed & 63) == 0)
        group.executed = executed;
    }
    group.executed = executed;
    if (executed >= input.options.instructionLimit) {
      describeFault(wave, instructions[wave.pc],
                    "the workgroup executed " + std::to_string(executed) +
                        " wave instructions, the limit of this launch (a loop "
                        "that does not end?)");
      return false;
    }
    return true;
  }

  void describeFault(const Wave &wave, const Instruction &in,
                     const std::string &what) {
    faultText = placeOf(input, wave, in) + ": " + what;
  }

  void startWave(Wave &w, unsigned index);
  void startScalars(Wave &w);

  const LaunchInput &input;
  std::vector<uint64_t> hits;
  Workgroup group;
  unsigned workItems = 0, rows = 0;
  std::string faultText;
  std::unique_ptr<Observer> observer;
};

void Worker::startWave(Wave &w, unsigned index) {
  const KernelDescriptor &d = input.kernel->descriptor;
  w.group = &group;
  w.index = uint8_t(index);
  w.state = WaveState::Running;
  w.pc = input.program->entry;
  w.scc = false;
  w.setMode(d.initialMode());
  // Registers that the hardware leaves as they were hold the poison.
  std::fill(w.registers.begin(), w.registers.end(), input.poison);
  std::fill(std::begin(w.sgpr), std::end(w.sgpr), input.poison);
  if (!w.scratch.empty())
    fillPoison(w.scratch.data(), w.scratch.size());
  unsigned first = index * kLanes;
  unsigned active = std::min(workItems - first, kLanes);
  w.setPair(kExec,
            active == kLanes ? ~uint64_t(0) : (uint64_t(1) << active) - 1);
  w.setPair(kVcc, 0);
  // Architected flat scratch: an address in the private window.
  w.setPair(kFlatScratch, kPrivateBase);
  // v0 packs the three ids, 10 bits each (gfx90a and later).
  unsigned idMode = d.rsrc2 >> 11 & 3;
  const Dim3 &block = input.block;
  uint32_t *ids = w.row(0);
  for (unsigned l = 0; l < active; ++l) {
    unsigned item = first + l;
    uint32_t x = item % block.x, y = item / block.x % block.y,
             z = item / block.x / block.y;
    ids[l] = x | (idMode >= 1 ? y << 10 : 0) | (idMode >= 2 ? z << 20 : 0);
  }
  startScalars(w);
}

void Worker::startScalars(Wave &w) {
  const KernelDescriptor &d = input.kernel->descriptor;
  unsigned next = 0, user = d.userScalars();
  auto put = [&](uint32_t value) {
    if (next < kFlatScratch)
      w.sgpr[next++] = value;
  };
  auto putPair = [&](uint64_t value) {
    put(uint32_t(value));
    put(uint32_t(value >> 32));
  };
  // Order of the descriptor's enable bits.
  if (d.property(0)) // private segment buffer: no buffer memory here
    for (unsigned i = 0; i < 4; ++i)
      put(input.poison);
  if (d.property(1))
    putPair(input.dispatchPacket);
  if (d.property(2)) // queue pointer: nothing to read behind it
    putPair(0);
  if (d.property(3))
    putPair(input.kernarg);
  if (d.property(4)) // dispatch id
    putPair(0);
  if (d.property(5)) // flat scratch init
    putPair(kPrivateBase);
  if (d.property(6))
    put(input.kernel->info->privateSegmentSize);
  for (unsigned i = 0; i < d.preloadLength() && next < user; ++i) {
    uint32_t word = input.poison;
    size_t at = size_t(d.preloadOffset() + i) * 4;
    if (at + 4 <= input.kernargBytes.size())
      std::memcpy(&word, input.kernargBytes.data() + at, 4);
    put(word);
  }
  next = std::max(next, user);
  for (unsigned i = 0; i < 3; ++i)
    if (d.rsrc2 >> (7 + i) & 1)
      put(group.id[i]);
  if (d.rsrc2 >> 10 & 1) // workgroup info: waves of the group
    put(uint32_t(group.waves.size()));
}

} // namespace

std::string placeOf(const LaunchInput &input, const Wave &wave,
                    const Instruction &in) {
  const Kernel &kernel = *input.kernel;
  const uint32_t *id = wave.group->id;
  std::string source = input.object->sourceLine(in.address);
  return "kernel '" + kernel.info->name + "', workgroup (" +
         std::to_string(id[0]) + ", " + std::to_string(id[1]) + ", " +
         std::to_string(id[2]) + "), wave " + std::to_string(wave.index) +
         ", at +" + hex(in.address - kernel.entry) + " `" +
         input.object->text(in.address, 16) + "`" +
         (source.empty() ? "" : " (" + source + ")");
}

Result<std::vector<uint8_t>>
buildKernarg(const KernelInfo &kernel, Dim3 grid, Dim3 block,
             std::span<const std::byte> explicitBytes, uint32_t dynamicLds,
             uint32_t poison) {
  uint32_t explicitEnd = 0;
  for (const KernelArgument &a : kernel.arguments)
    if (!a.isHidden())
      explicitEnd = std::max(explicitEnd, a.offset + a.size);
  if (explicitBytes.size() < explicitEnd)
    return Error{"kernel '" + kernel.name + "' takes " +
                 std::to_string(explicitEnd) + " bytes of arguments, got " +
                 std::to_string(explicitBytes.size())};
  if (explicitBytes.size() > kernel.kernargSize)
    return Error{"kernel '" + kernel.name + "' has a kernarg segment of " +
                 std::to_string(kernel.kernargSize) + " bytes, got " +
                 std::to_string(explicitBytes.size())};
  std::vector<uint8_t> out(kernel.kernargSize);
  for (size_t i = 0; i + 4 <= out.size(); i += 4)
    std::memcpy(out.data() + i, &poison, 4);
  if (!explicitBytes.empty())
    std::memcpy(out.data(), explicitBytes.data(), explicitBytes.size());
  const uint32_t counts[3] = {grid.x, grid.y, grid.z};
  const uint32_t sizes[3] = {block.x, block.y, block.z};
  for (const KernelArgument &a : kernel.arguments) {
    if (!a.isHidden())
      continue;
    uint64_t value = 0;
    unsigned axis =
        a.valueKind.empty() ? 0 : unsigned(a.valueKind.back() - 'x');
    std::string_view kind = a.valueKind;
    if (kind.starts_with("hidden_block_count_") && axis < 3)
      value = counts[axis];
    else if (kind.starts_with("hidden_group_size_") && axis < 3)
      value = sizes[axis];
    else if (kind.starts_with("hidden_remainder_"))
      value = 0; // grids are whole workgroups
    else if (kind.starts_with("hidden_global_offset_"))
      value = 0;
    else if (kind == "hidden_grid_dims")
      value = counts[2] * sizes[2] > 1 ? 3 : counts[1] * sizes[1] > 1 ? 2 : 1;
    else if (kind == "hidden_private_base")
      value = kPrivateBase >> 32;
    else if (kind == "hidden_shared_base")
      value = kSharedBase >> 32;
    else if (kind == "hidden_dynamic_lds_size")
      value = dynamicLds;
    // The rest (printf, hostcall, heap, queues) are pointers to services that
    // do not exist: null, so that their use faults.
    size_t size = std::min<size_t>(a.size, 8);
    if (a.offset + size <= out.size())
      for (size_t i = 0; i < size; ++i)
        out[a.offset + i] = uint8_t(value >> (8 * i));
  }
  return out;
}

Result<LaunchStats> runLaunch(const LaunchInput &input) {
  uint64_t total = uint64_t(input.grid.x) * input.grid.y * input.grid.z;
  // A workgroup's number has 27 bits beside each dword that it touched.
  if (input.options.checks.of(CheckKind::GlobalRace) != CheckAction::Off &&
      total >= (1u << 27) - 2)
    return Error{"kernel '" + input.kernel->info->name +
                 "': the global-race check takes fewer than 2^27 workgroups, "
                 "the grid has " +
                 std::to_string(total)};
  unsigned threads = input.options.threads
                         ? input.options.threads
                         : std::thread::hardware_concurrency();
  // What workgroups do to each other is told by their order.
  if (input.options.profile || input.options.checks.any())
    threads = 1;
  threads = unsigned(std::clamp<uint64_t>(total, 1, std::max(threads, 1u)));

  std::atomic<uint64_t> next{0};
  // The fault of the first workgroup in launch order, whoever meets it.
  std::atomic<uint64_t> faultAt{~uint64_t(0)};
  std::string faultText;
  std::mutex lock;
  LaunchStats stats;
  stats.workgroups = total;
  auto work = [&] {
    Worker worker(input);
    for (;;) {
      uint64_t linear = next.fetch_add(1);
      if (linear >= total || linear > faultAt.load())
        break;
      if (!worker.runWorkgroup(linear)) {
        std::lock_guard guard(lock);
        if (linear < faultAt.load()) {
          faultAt.store(linear);
          faultText = worker.fault();
        }
        break;
      }
    }
    std::lock_guard guard(lock);
    stats.waves = total * worker.waveCount();
    worker.addTo(stats);
  };
  if (threads == 1) {
    work();
  } else {
    std::vector<std::thread> pool;
    pool.reserve(threads);
    for (unsigned i = 0; i < threads; ++i)
      pool.emplace_back(work);
    for (std::thread &thread : pool)
      thread.join();
  }
  if (faultAt.load() != ~uint64_t(0))
    return Error{faultText};
  return stats;
}

} // namespace winnow::sim
