// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a run did, for people and as JSON.
#ifndef WINNOW_TOOL_REPORT_H
#define WINNOW_TOOL_REPORT_H

#include "Execute.h"
#include "Verify.h"

#include "winnow/Runtime/ContractAnswer.h"

#include <optional>
#include <string>
#include <vector>

namespace winnow::tool {

/// All that there is to say of one run.
struct RunReport {
  RunReport(const runtime::Bundle &bundle, const Call &call)
      : bundle(bundle), call(call) {}

  const runtime::Bundle &bundle;
  const Call &call; ///< after running
  std::string file;
  std::string device;
  uint64_t seed = 0;
  bool fromFile = false; ///< the inputs came from --input
  std::vector<runtime::ContractAnswer> contracts;
  std::string hip; ///< the folder of the generated source; empty: not kept
  bool fromDescription = false;
  std::chrono::microseconds generateTime{0};
  std::vector<LoadedCode> codes;
  std::vector<LaunchRecord> launches; ///< empty on the host
  std::chrono::microseconds hostTime{0};
  int64_t shownRequest = 0;
  std::optional<Verdict> verdict;
};

/// Lines for people, the check's result last.
std::string textReport(const RunReport &report);

/// The same facts as one JSON object.
std::string jsonReport(const RunReport &report);

/// "aiter_msa: met, 22 limits hold; 3 wait for the call (requests, ...)", or
/// the violations, one a line.
std::string contractText(const runtime::ContractAnswer &answer);

/// Blocks that the score kernel wrote a score for, summed over requests; -1 if
/// the entry has no score workspace.
int64_t pagesScored(const Call &call);

/// Registers, LDS, spills and code size of every kernel of a code object.
std::string resourceText(const LoadedCode &code);

/// "96 ms", "1.3 s", "850 us".
std::string timeText(std::chrono::microseconds time);

} // namespace winnow::tool

#endif // WINNOW_TOOL_REPORT_H
