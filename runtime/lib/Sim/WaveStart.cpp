// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The initial state of workgroups and waves (LLVM AMDGPUUsage, "Initial Kernel
// Execution State").
#include "Resident.h"

#include <algorithm>

namespace winnow::sim {

namespace {

void fillPoison(uint8_t *bytes, size_t size, uint32_t poison) {
  for (size_t i = 0; i < size; i += 4)
    std::memcpy(bytes + i, &poison, std::min<size_t>(4, size - i));
}

void startScalars(const LaunchInput &input, const Workgroup &group, Wave &w) {
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
    put(input.scratchBytes);
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

void startWave(const LaunchInput &input, Workgroup &group, unsigned index) {
  Wave &w = group.waves[index];
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
    fillPoison(w.scratch.data(), w.scratch.size(), input.poison);
  const unsigned workItems = input.block.x * input.block.y * input.block.z;
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
  startScalars(input, group, w);
}

} // namespace

Resident::Resident(const LaunchInput &input, Findings &findings) {
  const KernelDescriptor &d = input.kernel->descriptor;
  unsigned workItems = input.block.x * input.block.y * input.block.z;
  unsigned waves = (workItems + kLanes - 1) / kLanes;
  group.program = input.program;
  group.codeBase = input.codeBase;
  group.findings = &findings;
  group.poison = input.poison;
  group.privateSegmentSize = input.scratchBytes;
  group.lds.resize(d.groupSegmentSize + input.options.dynamicLdsBytes);
  for (unsigned i = 0; i < waves; ++i)
    group.waves.emplace_back(*input.memory);
  for (Wave &wave : group.waves) {
    wave.registers.resize(d.vectorRegisters() * kLanes);
    wave.vgprs = wave.registers.data();
    wave.scratch.resize(size_t(group.privateSegmentSize) * kLanes);
  }
  polls.resize(waves);
}

void Resident::start(const LaunchInput &input, uint64_t linear,
                     uint64_t placeInOrder) {
  const Dim3 &grid = input.grid;
  place = placeInOrder;
  quiet = 0;
  patience = 1;
  group.linearId = linear;
  group.id[0] = uint32_t(linear % grid.x);
  group.id[1] = uint32_t(linear / grid.x % grid.y);
  group.id[2] = uint32_t(linear / grid.x / grid.y);
  group.executed = 0;
  group.isStopped = false;
  fillPoison(group.lds.data(), group.lds.size(), input.poison);
  for (unsigned i = 0; i < group.waves.size(); ++i)
    startWave(input, group, i);
  std::fill(polls.begin(), polls.end(), Poll());
}

} // namespace winnow::sim
