// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "winnow/Codegen/Tuning.h"

#include "Schedule.h"

#include <algorithm>

using namespace winnow;

FixedParameter TunableKernel::fixedParameters() const {
  return [this](const ScheduleParameter &parameter) -> std::optional<int64_t> {
    const auto at = fixed.find(std::string(parameter.name));
    return at == fixed.end() ? std::nullopt : std::optional(at->second);
  };
}

std::string winnow::scheduleText(const KernelProblem &problem,
                                 const KernelSchedule &schedule) {
  std::string text;
  for (const ScheduleParameter *parameter : parametersOf(problem)) {
    const int64_t value = schedule.*parameter->value;
    text += text.empty() ? "" : ",";
    text += std::string(scheduledKernelName(parameter->kernel)) + "." +
            std::string(parameter->name) + "=" + std::to_string(value);
  }
  return text;
}

TunableEntry winnow::tunableEntry(Description &description) {
  const EntrySchedule &schedule = description.schedule;
  TunableEntry entry;
  entry.name = description.entry.getSymName().str();
  entry.launches = schedule.launches;
  entry.launchesFixed = schedule.request.launches.has_value();
  auto add = [&](const KernelProblem &problem, const KernelSchedule &chosen) {
    TunableKernel kernel{problem, chosen, {}};
    for (const ScheduleParameter *parameter : parametersOf(problem))
      if (const ScheduleOverride *fixed = schedule.request.find(*parameter))
        kernel.fixed[std::string(parameter->name)] = fixed->value;
    entry.kernels.push_back(std::move(kernel));
  };
  if (description.score)
    add(schedule.scoreProblem, schedule.score);
  add(schedule.selectProblem, schedule.select);
  return entry;
}
