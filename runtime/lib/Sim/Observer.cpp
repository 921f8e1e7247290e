// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hands each instruction's effects to the watches and the counters.
#include "Observer.h"

#include "Resident.h"

#include <algorithm>
#include <bit>

namespace winnow::sim {

Observer::Observer(const LaunchInput &input, Findings &findings)
    : input(input), effects(effectsOf(*input.program, *input.object)),
      watchesRegisters(findings.isOn(CheckKind::MissingWait)),
      watchesLds(findings.isOn(CheckKind::LdsRace) ||
                 findings.isOn(CheckKind::UninitialisedLds)),
      watchesGlobal(findings.isOn(CheckKind::GlobalRace) ||
                    findings.isOn(CheckKind::UninitialisedGlobal) ||
                    input.options.profile),
      ordersWaves(findings.isOn(CheckKind::LdsRace) ||
                  findings.isOn(CheckKind::GlobalRace)),
      profiles(input.options.profile), findings(findings),
      global(findings.isOn(CheckKind::GlobalRace),
             findings.isOn(CheckKind::UninitialisedGlobal),
             input.options.profile),
      counters(effects.size()) {}

void Observer::startWorkgroup(const Workgroup &group, GroupWatch &watch) {
  current = &watch;
  if (watchesRegisters || profiles) {
    watch.registers.resize(group.waves.size());
    for (RegisterWatch &registers : watch.registers)
      registers.start(input.kernel->descriptor.vectorRegisters());
  }
  if (watchesLds)
    watch.lds.start(group.lds.size());
  if (watchesRegisters)
    watch.transfers.start(group.lds.size(), group.waves.size());
  watch.order.start(group.linearId);
  if (profiles) {
    watch.linear = group.linearId;
    watch.hasReleased = false;
    watch.clocks.resize(group.waves.size());
    for (WaveClock &clock : watch.clocks)
      clock.start();
    groups.resize(std::max<size_t>(groups.size(), group.linearId + 1));
  }
}

void Observer::reportLds(Wave &w, const Instruction &in,
                         const LdsWatch::Problems &problems) {
  findings.report(CheckKind::LdsRace, w, in, problems.race);
  findings.report(CheckKind::UninitialisedLds, w, in, problems.uninitialised);
}
void Observer::reportGlobal(Wave &w, const Instruction &in,
                            const GlobalWatch::Problems &problems) {
  findings.report(CheckKind::GlobalRace, w, in, problems.race);
  findings.report(CheckKind::UninitialisedGlobal, w, in,
                  problems.uninitialised);
}

void Observer::before(Wave &w, const Instruction &in, size_t index,
                      const Effects &e) {
  const uint64_t busy = counters[index].issueCycles;
  look(w, in, index, e);
  if (!profiles)
    return;
  const uint64_t cycles = counters[index].issueCycles - busy;
  WaveClock &clock = current->clocks[w.index];
  clock.step(e, cycles);
  GroupProfile &group = groups[current->linear];
  group.issueCycles += cycles;
  group.clocks = std::max(group.clocks, clock.now());
}

void Observer::look(Wave &w, const Instruction &in, size_t index,
                    const Effects &e) {
  Counters &c = counters[index];
  if (watchesRegisters || profiles) {
    RegisterWatch &watch = current->registers[w.index];
    if (watchesRegisters)
      findings.report(CheckKind::MissingWait, w, in, watch.conflict(e));
    unsigned waitedFor = watch.issue(e);
    c.waits += waitedFor != 0 || e.isBarrier;
    c.waitedOperations += waitedFor;
  }
  if (profiles) {
    ++c.executions;
    c.activeLanes += unsigned(std::popcount(w.exec()));
    c.mfmaPasses += e.passes;
    c.mfmaOperations += 2 * uint64_t(e.products);
    c.issueCycles += e.cycles;
  }
  if (e.isDeviceRelease)
    current->order.release(w.index);
  if (e.isDeviceAcquire)
    current->order.acquire();
  if (profiles) {
    current->hasReleased |= e.isDeviceRelease;
    if (e.isDeviceAcquire && groups[current->linear].counter)
      groups[current->linear].isLast = true;
  }
  if (e.loadsLds && (watchesLds || watchesRegisters))
    loadToLds(w, in, e);
  switch (e.space) {
  case Space::None:
  case Space::Scratch:
    return;
  case Space::Global:
  case Space::Flat:
    if (watchesGlobal || watchesLds)
      globalAccess(w, in, e, c);
    return;
  case Space::Lds:
    if (watchesLds || profiles || current->transfers.any())
      ldsAccess(w, in, e, c);
    return;
  case Space::Scalar:
    if (watchesGlobal)
      scalarAccess(w, in, e, c);
    return;
  }
}

void Observer::laneInLds(Wave &w, const Effects &e, uint32_t address,
                         unsigned lane, LdsWatch::Problems &problems,
                         const uint8_t *value) {
  if (watchesLds)
    current->lds.access(w.index, e.access, address, e.bytes, lane,
                        current->order.waves, problems, w.group->lds.data(),
                        value);
}

void Observer::loadToLds(Wave &w, const Instruction &in, const Effects &e) {
  uint32_t base = ldsDestinationBase(w, in);
  unsigned stored = ldsDestinationBytes(e.bytes);
  LdsWatch::Problems problems;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!w.isActive(l))
      continue;
    uint32_t at = ldsDestination(base, l, e.bytes);
    if (watchesLds)
      current->lds.access(w.index, AccessKind::Store, at, stored, l,
                          current->order.waves, problems, w.group->lds.data());
    if (watchesRegisters)
      current->transfers.issue(w.index, at, stored,
                               current->registers[w.index]);
  }
  reportLds(w, in, problems);
}

void Observer::globalAccess(Wave &w, const Instruction &in, const Effects &e,
                            Counters &c) {
  LaneAddresses addresses;
  if (!laneAddresses(w, in, e.bytes, addresses))
    return;
  uint64_t inGlobal = 0;
  const Scope scope = e.isCoherent          ? Scope::Device
                      : e.isCoherentInGroup ? Scope::Workgroup
                                            : Scope::None;
  GlobalWatch::Problems problems;
  LdsWatch::Problems inLds;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(addresses.lanes >> l & 1))
      continue;
    uint64_t at = addresses.at[l];
    unsigned size = in.isBuffer ? addresses.bytes[l] : e.bytes;
    if (at >= kSharedBase && at - kSharedBase < kApertureSize) {
      laneInLds(w, e, uint32_t(at - kSharedBase), l, inLds);
      continue;
    }
    // An address outside of everything is the access's own error.
    Allocation *allocation = w.memory.locate(at, size);
    if (!allocation)
      continue;
    inGlobal |= uint64_t(1) << l;
    if (watchesGlobal)
      global.access(*allocation, current->order, w.index, e.access, scope,
                    e.access == AccessKind::Atomic && in.returnsValue, at, size,
                    l, problems);
  }
  if (e.access == AccessKind::Atomic || scope != Scope::None)
    current->order.waves.advance(w.index);
  reportGlobal(w, in, problems);
  reportLds(w, in, inLds);
  if (!profiles)
    return;
  if (GroupProfile &group = groups[current->linear];
      e.access == AccessKind::Atomic && inGlobal && current->hasReleased &&
      !group.counter) {
    group.counter = addresses.at[std::countr_zero(inGlobal)];
    group.arrivedAt = current->clocks[w.index].now();
  }
  uint64_t bytes = uint64_t(std::popcount(inGlobal)) * e.bytes;
  c.bytesLoaded += e.access == AccessKind::Store ? 0 : bytes;
  c.bytesStored += e.access == AccessKind::Load ? 0 : bytes;
  Touched touched = touchedBy(addresses.at, inGlobal, e.bytes);
  c.differentBytes += touched.bytes;
  c.lines64 += touched.lines64;
  c.lines128 += touched.lines128;
  // The vector cache moves one 64-byte line a clock.
  c.issueCycles += std::max<unsigned>(touched.lines64, e.cycles) - e.cycles;
}

void Observer::ldsAccess(Wave &w, const Instruction &in, const Effects &e,
                         Counters &c) {
  uint64_t exec = w.exec();
  const uint32_t *addresses = nullptr;
  uint32_t computed[kLanes];
  if (e.ldsAddress == Effects::LdsAddress::Register) {
    addresses = w.row(in.source[0].index);
  } else {
    for (unsigned l = 0; l < kLanes; ++l)
      computed[l] = e.ldsAddress == Effects::LdsAddress::Lane
                        ? (w.sgpr[kM0] & 0xffff) + 4 * l
                        : 0;
    if (e.ldsAddress == Effects::LdsAddress::Wave)
      exec &= ~exec + 1; // once, by the first lane
    addresses = computed;
  }
  if (e.access == AccessKind::Atomic && ordersWaves) {
    WaveOrder &order = current->order.waves;
    // What returns nothing cannot learn that others were there.
    const bool takes = in.destination.kind != Operand::Kind::None;
    for (unsigned l = 0; l < kLanes; ++l)
      if (exec >> l & 1)
        order.synchronise(w.index, order.ofLds(addresses[l] + e.offsets[0]),
                          takes, true);
  }
  LdsWatch::Problems problems;
  std::string early;
  for (unsigned part = 0; part < e.accesses; ++part) {
    const uint32_t *data = e.access == AccessKind::Store
                               ? w.row(in.source[1 + part].index)
                               : nullptr;
    for (unsigned l = 0; (watchesLds || current->transfers.any()) && l < kLanes;
         ++l) {
      if (!(exec >> l & 1))
        continue;
      uint8_t value[16];
      for (unsigned d = 0; data && d < (e.bytes + 3u) / 4; ++d)
        std::memcpy(value + 4 * d, &data[d * kLanes + l], 4);
      uint32_t at = addresses[l] + e.offsets[part];
      laneInLds(w, e, at, l, problems, data && !e.isHighHalf ? value : nullptr);
      if (current->transfers.any() && early.empty())
        early = current->transfers.conflict(w.index, at, e.bytes, l,
                                            current->registers);
    }
    if (profiles) {
      LdsCycles cost = ldsCycles(addresses, exec, e.offsets[part], e.bytes);
      c.ldsBytes += uint64_t(std::popcount(exec)) * e.bytes;
      c.bankConflictCycles += cost.conflicts;
      c.issueCycles += cost.cycles > e.cycles ? cost.cycles - e.cycles : 0;
    }
  }
  findings.report(CheckKind::MissingWait, w, in, early);
  if (e.access == AccessKind::Atomic)
    current->order.waves.advance(w.index);
  reportLds(w, in, problems);
}

void Observer::scalarAccess(Wave &w, const Instruction &in, const Effects &e,
                            Counters &c) {
  uint64_t at;
  if (!scalarAddress(w, in, e.bytes, at))
    return;
  Allocation *allocation = w.memory.locate(at, e.bytes);
  if (!allocation)
    return;
  GlobalWatch::Problems problems;
  global.access(*allocation, current->order, w.index, e.access, Scope::None,
                in.returnsValue, at, e.bytes, 0, problems);
  if (e.access == AccessKind::Atomic)
    current->order.waves.advance(w.index);
  reportGlobal(w, in, problems);
  if (!profiles)
    return;
  c.bytesLoaded += e.access == AccessKind::Store ? 0 : e.bytes;
  c.bytesStored += e.access == AccessKind::Load ? 0 : e.bytes;
  Touched touched = touchedBy(&at, 1, e.bytes);
  c.differentBytes += touched.bytes;
  c.lines64 += touched.lines64;
  c.lines128 += touched.lines128;
}

void Observer::passBarrier(Workgroup &group) {
  current->lds.passBarrier();
  if (watchesRegisters)
    current->transfers.passBarrier(current->registers);
  current->order.waves.passBarrier();
  if (profiles) {
    uint64_t last = 0;
    for (const Wave &wave : group.waves)
      if (wave.state != WaveState::Ended)
        last = std::max(last, current->clocks[wave.index].now());
    for (const Wave &wave : group.waves)
      current->clocks[wave.index].passBarrier(last);
  }
  if (!findings.isOn(CheckKind::DivergentBarrier))
    return;
  const Instruction *instructions = input.program->instructions.data();
  Wave *first = nullptr;
  const Wave *other = nullptr;
  unsigned ended = 0;
  for (Wave &wave : group.waves) {
    if (wave.state == WaveState::Ended)
      ++ended;
    else if (!first)
      first = &wave;
    else if (wave.pc != first->pc && !other)
      other = &wave;
  }
  if (!first)
    return;
  // The counter is past the barrier already.
  const Instruction &at = instructions[first->pc - 1];
  if (ended)
    findings.report(CheckKind::DivergentBarrier, *first, at,
                    "the wave passes a barrier at which " +
                        std::to_string(ended) + " of the workgroup's " +
                        std::to_string(group.waves.size()) +
                        " waves never arrive: they ended before");
  if (other)
    findings.report(
        CheckKind::DivergentBarrier, *first, at,
        "the wave passes a barrier together with wave " +
            std::to_string(other->index) + ", which waits at another one, " +
            "+" +
            hex(instructions[other->pc - 1].address - input.kernel->entry));
}

/// Names of the classes, in their order.
static std::string unitName(InstructionClass kind) {
  static const char *names[] = {
      "valu",          "salu", "scalar memory", "vector load", "vector store",
      "vector atomic", "lds",  "mfma",          "branch",      "wait"};
  return names[unsigned(kind)];
}

void Observer::finish(LaunchStats &stats) {
  if (!profiles)
    return;
  auto profile = std::make_shared<KernelProfile>();
  const Kernel &kernel = *input.kernel;
  profile->kernel = kernel.info->name;
  profile->workgroups = stats.workgroups;
  profile->waves = stats.waves;
  profile->distinctBytes = global.distinctBytes();
  profile->groups = std::move(groups);
  profile->residentGroups = mostResident(input);
  const std::vector<Instruction> &program = input.program->instructions;
  for (size_t i = 0; i < program.size(); ++i) {
    const Instruction &in = program[i];
    bool isKernel = in.address >= kernel.entry && in.address < kernel.end;
    if (!in.size || (!isKernel && !counters[i].executions))
      continue;
    InstructionProfile line;
    line.offset = int64_t(in.address - kernel.entry);
    line.text = input.object->text(in.address, 16);
    line.source = input.object->sourceLine(in.address);
    line.unit = unitName(in.kind);
    line.counters = counters[i];
    profile->total += counters[i];
    profile->instructions.push_back(std::move(line));
  }
  stats.profile = std::move(profile);
}

} // namespace winnow::sim
