// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Candidates by what the simulated device counts.
#include "TuneTarget.h"

using namespace winnow;
using namespace winnow::tool;

TuneTarget::~TuneTarget() = default;

namespace {

class SimTarget : public TuneTarget {
public:
  const std::string &arch() const override { return name; }
  std::string method() const override {
    return "estimated for an MI355X by the simulated gfx950";
  }

  Status run(Call &call, const std::vector<LoadedCode> &codes) override {
    // Every core: a launch that is not profiled may be spread.
    Result<std::vector<LaunchRecord>> records =
        runOnSim(call, codes, /*threads=*/0);
    return records ? Status() : Status(records.takeError());
  }

  Result<std::vector<LaunchTime>>
  time(const Call &call, const std::vector<LoadedCode> &codes) override {
    Call scratch = call;
    Result<std::vector<LaunchRecord>> records =
        runOnSim(scratch, codes, SimRun{1, {}, /*profile=*/true});
    if (!records)
      return records.takeError();
    std::vector<LaunchTime> times;
    for (const LaunchRecord &record : *records)
      times.push_back({record.launch.kernel,
                       sim::scheduledSeconds(*record.stats.profile), 0});
    return times;
  }

private:
  std::string name = "gfx950";
};

} // namespace

std::unique_ptr<TuneTarget> tool::tuneOnSim() {
  return std::make_unique<SimTarget>();
}

Result<std::unique_ptr<TuneTarget>>
tool::makeTuneTarget(const std::string &name, unsigned repeats) {
  if (name == "sim" || name == "sim:gfx950")
    return tuneOnSim();
  Result<std::shared_ptr<runtime::Device>> device = runtime::openDevice(name);
  if (!device)
    return device.takeError();
  DeviceTiming timing;
  timing.repeats = repeats;
  return tuneOnDevice(std::move(*device), timing);
}
