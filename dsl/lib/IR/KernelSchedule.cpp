// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of schedule parameters. A range here is what some kernel takes on
// some device; what one kernel of one description takes is for the scheduler.
#include "winnow/IR/KernelSchedule.h"

using namespace winnow;

using enum ScheduledKernel;

static constexpr ScheduleParameter kParameters[] = {
    {Score, "waves", &KernelSchedule::waves, 1, 16, "waves a workgroup",
     "1024 work-items are the most that a device takes in a workgroup"},
    {Score, "chunks", &KernelSchedule::chunks, 1, 1024,
     "workgroups that share the blocks of a request",
     "one block a workgroup is the least work, and empty ones cost a start"},
    {Score, "chunk_blocks", &KernelSchedule::chunkBlocks, 1, 64,
     "blocks a workgroup, where rows are ragged",
     "the lanes of a wave hold the table entries of a chunk"},
    {Score, "query_tiles", &KernelSchedule::queryTiles, 1, 4,
     "tiles of 16 queries a wave, where rows are ragged",
     "the registers of a wave hold its queries and their maxima"},
    {Score, "key_tiles", &KernelSchedule::keyTiles, 1, 16,
     "tiles of 16 keys of a block that a wave takes",
     "a block has no more; the waves of a workgroup share it"},
    {Score, "prefetch", &KernelSchedule::prefetch, 1, 16,
     "tiles of 16 keys that are asked for ahead of the one that is multiplied",
     "registers or local memory hold them"},
    {Score, "pages_in_flight", &KernelSchedule::pagesInFlight, 1, 8,
     "blocks of a wave whose keys are asked for at once",
     "registers hold their keys"},
    {Score, "non_temporal", &KernelSchedule::nonTemporal, 0, 1,
     "1 where keys are loaded so that caches do not keep them",
     "keys are marked or not"},
    {Score, "query_group", &KernelSchedule::queryGroup, 1, 8,
     "queries a workgroup of the generic lowering",
     "8192 floats of queries lie in local memory"},
    {Select, "waves", &KernelSchedule::waves, 1, 16, "waves a workgroup",
     "1024 work-items are the most that a device takes in a workgroup"},
    {Select, "slots", &KernelSchedule::slots, 1, 32, "scores a lane",
     "more do not fit in registers"},
};

std::string_view winnow::scheduledKernelName(ScheduledKernel kernel) {
  return kernel == Score ? "score" : "select";
}

std::string ScheduleParameter::describe() const {
  return "an integer from " + std::to_string(min) + " to " +
         std::to_string(max);
}

std::span<const ScheduleParameter> winnow::scheduleParameters() {
  return kParameters;
}

const ScheduleParameter *winnow::findScheduleParameter(ScheduledKernel kernel,
                                                       std::string_view name) {
  for (const ScheduleParameter &parameter : kParameters)
    if (parameter.kernel == kernel && parameter.name == name)
      return &parameter;
  return nullptr;
}
