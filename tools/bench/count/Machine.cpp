// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Machine.h"

#include "Load.h"

#include "winnow/Codegen/Compile.h"
#include "winnow/Sim/Device.h"

#include <algorithm>
#include <cstdlib>

using namespace winnow;
using namespace winnow::bench;

namespace {

template <typename Apply>
Counts combine(const Counts &a, const Counts &b, Apply apply) {
  Counts out;
  for (double Counts::*field :
       {&Counts::all, &Counts::mfma, &Counts::valu, &Counts::salu,
        &Counts::loads, &Counts::branches, &Counts::nops, &Counts::waitStates,
        &Counts::waits, &Counts::bytes, &Counts::lineBytes,
        &Counts::distinctBytes})
    out.*field = apply(a.*field, b.*field);
  return out;
}

Counts countsOf(const sim::LaunchStats &stats) {
  Counts counts;
  counts.all = double(stats.instructions);
  counts.mfma = double(stats.mfma);
  counts.valu = double(stats.valu);
  counts.salu = double(stats.salu);
  counts.loads = double(stats.vectorLoads);
  counts.branches = double(stats.branches);
  for (const sim::InstructionProfile &at : stats.profile->instructions) {
    const auto executions = double(at.counters.executions);
    // `s_nop n` waits for n + 1 states (CDNA4 ISA, SOPP).
    if (at.text.starts_with("s_nop ")) {
      counts.nops += executions;
      counts.waitStates +=
          executions *
          (double(std::strtol(at.text.c_str() + 6, nullptr, 0)) + 1);
    } else if (at.unit == "wait") {
      counts.waits += executions;
    }
  }
  counts.bytes = double(stats.profile->total.differentBytes);
  counts.lineBytes = 64.0 * double(stats.profile->total.lines64);
  counts.distinctBytes = double(stats.profile->distinctBytes);
  return counts;
}

} // namespace

Counts Counts::operator-(const Counts &other) const {
  return combine(*this, other, [](double a, double b) { return a - b; });
}

Counts Counts::operator*(double factor) const {
  return combine(*this, *this,
                 [factor](double a, double) { return a * factor; });
}

Result<std::unique_ptr<Program>> Program::build(const IndexerShape &shape,
                                                tool::Compiler &compiler) {
  std::unique_ptr<Program> program(new Program);
  Result<runtime::Bundle> bundle =
      compileDescription(describe(shape), shape.name);
  if (!bundle)
    return bundle.takeError();
  program->bundle = std::move(*bundle);
  Result<const runtime::Entry *> entry = program->bundle.find("");
  if (!entry)
    return entry.takeError();
  program->entry = *entry;
  Result<tool::Indexer> indexer = tool::Indexer::of(**entry);
  if (!indexer)
    return indexer.takeError();
  program->indexer = *indexer;
  Result<std::vector<tool::LoadedCode>> codes =
      tool::loadCode(program->bundle, **entry, "gfx950", compiler);
  if (!codes)
    return codes.takeError();
  program->codes = std::move(*codes);
  return program;
}

Result<const runtime::Launch *>
Program::launch(const std::string &suffix) const {
  std::string names;
  for (const runtime::Launch &launch : entry->launches) {
    if (launch.kernel.ends_with(suffix))
      return &launch;
    names += " " + launch.kernel;
  }
  return Error{"entry '" + entry->name + "' launches no kernel '..." + suffix +
               "', but" + names};
}

Result<const sim::KernelInfo *>
Program::kernel(const std::string &suffix) const {
  Result<const runtime::Launch *> wanted = launch(suffix);
  if (!wanted)
    return wanted.takeError();
  for (const tool::LoadedCode &code : codes)
    if (code.source == (*wanted)->source)
      return code.object->find((*wanted)->kernel);
  return Error{"kernel '" + (*wanted)->kernel + "' has no code object"};
}

Result<tool::Call> bench::makeCall(const Program &program,
                                   const tool::Lengths &lengths) {
  return tool::randomCall(program.indexer, lengths, /*seed=*/1);
}

Result<KernelRun> bench::runKernel(const Program &program, tool::Call call,
                                   const std::string &suffix) {
  Result<const runtime::Launch *> wanted = program.launch(suffix);
  if (!wanted)
    return wanted.takeError();
  tool::SimRun how;
  how.profile = true;
  how.only = (*wanted)->kernel;
  auto records = tool::runOnSim(call, program.codes, how);
  if (!records)
    return records.takeError();
  if (records->empty())
    return Error{"kernel '" + how.only + "' was not launched"};
  const tool::LaunchRecord &record = records->front();
  KernelRun run;
  run.counts = countsOf(record.stats);
  run.waves = double(record.stats.waves);
  run.wavesOfGroup = record.launch.block[0] / 64;
  std::copy(record.launch.grid.begin(), record.launch.grid.end(), run.grid);
  return run;
}

double bench::occupancy(uint32_t vectorRegisters, uint64_t ldsBytes,
                        uint32_t wavesOfGroup) {
  // A SIMD of gfx950 has 512 vector registers a lane, given out in eights, and
  // up to 8 waves; a compute unit has 4 SIMDs and 160 KiB of LDS (LLVM,
  // AMDGPUBaseInfo.cpp: getTotalNumVGPRs, getVGPRAllocGranule,
  // getMaxWavesPerEU, getAddressableLocalMemorySize).
  constexpr uint64_t simds = 4, registers = 512, mostWaves = 8, lds = 163840;
  const uint64_t taken = std::max(8u, (vectorRegisters + 7) / 8 * 8);
  const uint64_t waves = std::min(mostWaves, registers / taken);
  if (ldsBytes == 0)
    return double(waves);
  const uint64_t groups = lds / ldsBytes;
  return std::min(double(waves), double(groups * wavesOfGroup) / double(simds));
}
