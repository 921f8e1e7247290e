// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a launch: host threads take workgroups from the dispatcher and merge
// what they counted and found.
#include "Launch.h"

#include "Dispatcher.h"
#include "Worker.h"

#include <algorithm>
#include <thread>

namespace winnow::sim {

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
  if (input.options.profile || input.options.checks.watches())
    threads = 1;
  threads = unsigned(std::clamp<uint64_t>(total, 1, std::max(threads, 1u)));

  Dispatcher dispatcher(total, mostResident(input), input.options.shuffle);
  std::mutex lock;
  LaunchStats stats;
  stats.workgroups = total;
  Findings findings(input);
  auto work = [&] {
    Worker worker(input, dispatcher);
    worker.run();
    std::lock_guard guard(lock);
    stats.waves = total * worker.wavesOfGroup();
    worker.addTo(stats, findings);
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
  if (!dispatcher.faultText().empty())
    return Error{dispatcher.faultText()};
  stats.findings = findings.all();
  return stats;
}

} // namespace winnow::sim
