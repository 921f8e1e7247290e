// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report of a run for people.
#include "Report.h"
#include "CodeObjectInfo.h"

#include "winnow/Runtime/KernelCompiler.h"
#include "winnow/Runtime/Visible.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace winnow;
using namespace winnow::tool;

std::string tool::timeText(std::chrono::microseconds time) {
  const double us = static_cast<double>(time.count());
  if (us < 1e3)
    return fmt::format("{:.0f} us", us);
  if (us < 1e6)
    return fmt::format("{:.{}f} ms", us / 1e3, us < 1e4 ? 1 : 0);
  return fmt::format("{:.2f} s", us / 1e6);
}

std::string tool::contractText(const runtime::ContractAnswer &answer) {
  std::string text = answer.contract;
  if (!answer.report.met()) {
    text += fmt::format(": broken, {} limit{}", answer.report.violations.size(),
                        answer.report.violations.size() == 1 ? "" : "s");
    for (const contract::Violation &violation : answer.report.violations)
      text += "\n    " + runtime::visible(violation.message());
    return text;
  }
  text += ": met";
  if (answer.report.deferred.empty())
    return text;
  text += fmt::format("; {} of its limits wait for the call:",
                      answer.report.deferred.size());
  for (const contract::Deferred &deferred : answer.report.deferred)
    text += " " + deferred.limit;
  return text;
}

int64_t tool::pagesScored(const Call &call) {
  const Indexer &indexer = *call.indexer;
  if (indexer.scores < 0)
    return -1;
  const reference::Rows rows = call.rows();
  const auto scores = call.workspace[indexer.scores].as<float, 3>();
  float poison;
  std::memset(&poison, std::to_integer<int>(kPoison), sizeof poison);
  int64_t written = 0;
  for (int64_t request = 0; request < rows.requests(); ++request) {
    // The last row of a request sees all of its blocks.
    const int64_t row = rows.firstRow(request + 1) - 1;
    for (int64_t block = 0; block < rows.localCount(rows.blocksSeen(request));
         ++block)
      written += scores(0, row, block) != poison;
  }
  return written;
}

static std::string resourceText(const sim::KernelInfo &kernel) {
  return fmt::format(
      "{}: {} VGPRs, {} AGPRs, {} SGPRs, {} bytes of LDS, {} bytes of scratch, "
      "{} VGPR and {} SGPR spills, {} bytes of code, up to {} work items\n",
      runtime::visible(kernel.name), kernel.vgprCount, kernel.agprCount,
      kernel.sgprCount, kernel.groupSegmentSize, kernel.privateSegmentSize,
      kernel.vgprSpillCount, kernel.sgprSpillCount, kernel.codeSize,
      kernel.maxFlatWorkgroupSize);
}

/// Why nothing is said of a code object's kernels.
static std::string unreadable(const LoadedCode &code, const std::string &why) {
  return fmt::format("what the kernels for {} use cannot be told: {}\n",
                     code.arch, why);
}

std::string tool::resourceText(const LoadedCode &code) {
  std::string text;
  if (runtime::isCudaTarget(code.arch)) {
    auto info = runtime::readCodeObject(code.bytes, code.arch);
    if (!info)
      return unreadable(code, info.message());
    for (const runtime::KernelResources &kernel : info->kernels)
      text += fmt::format("{}: {} registers, {} bytes of shared memory, {} "
                          "bytes of stack\n",
                          runtime::visible(kernel.name), kernel.vgprs,
                          kernel.ldsBytes, kernel.scratchBytes);
    return text + fmt::format("{} bytes of code objects for {}\n",
                              code.bytes.size(), code.arch);
  }
  auto kernels = sim::CodeObject::describe(code.bytes);
  if (!kernels)
    return unreadable(code, kernels.message());
  for (const sim::KernelInfo &kernel : *kernels)
    text += ::resourceText(kernel);
  return text;
}

namespace {

/// Lines of "label   text", continued under the text.
class Lines {
public:
  void add(std::string_view label, const std::string &line) {
    text += fmt::format("{:<10} {}\n", label, line);
  }
  std::string text;
};

std::string shape(const std::array<uint32_t, 3> &extents) {
  std::string text = std::to_string(extents[0]);
  const int last = extents[2] > 1 ? 2 : extents[1] > 1 ? 1 : 0;
  for (int axis = 1; axis <= last; ++axis)
    text += "x" + std::to_string(extents[axis]);
  return text;
}

std::string instructions(const sim::LaunchStats &stats) {
  std::string text = fmt::format("{} wave instructions:", stats.instructions);
  const std::pair<const char *, uint64_t> classes[] = {
      {"mfma", stats.mfma},
      {"valu", stats.valu},
      {"salu", stats.salu},
      {"vector loads", stats.vectorLoads},
      {"vector stores", stats.vectorStores},
      {"atomics", stats.vectorAtomics},
      {"scalar loads", stats.scalarMemory},
      {"lds", stats.lds},
      {"branches", stats.branches},
      {"waits", stats.waits}};
  const char *separator = " ";
  for (auto [name, count] : classes)
    if (count != 0) {
      text += fmt::format("{}{} {}", separator, count, name);
      separator = ", ";
    }
  return text;
}

/// "query_len 4", or the new tokens of each request.
std::string rowText(const Call &call) {
  const reference::Rows rows = call.rows();
  if (!rows.ragged())
    return fmt::format("query_len {}", rows.queryLen);
  std::string text = fmt::format("{} rows:", rows.rows());
  constexpr int64_t shown = 12;
  for (int64_t i = 0; i < std::min(rows.requests(), shown); ++i)
    text += fmt::format("{} {}", i ? "," : "", rows.rowsOf(i));
  return rows.requests() > shown ? text + ", ..." : text;
}

void addInputs(Lines &lines, const RunReport &report) {
  const Call &call = report.call;
  const Indexer &indexer = *call.indexer;
  if (!indexer.selects()) {
    std::string tensors;
    for (size_t i = 0; i < call.arguments.size(); ++i)
      tensors +=
          fmt::format("{}{} {} {}", i ? ", " : "", call.arguments[i].name,
                      runtime::dtypeName(call.arguments[i].view.dtype),
                      call.arguments[i].view.shapeText());
    lines.add("inputs", fmt::format("{}; seed {}", tensors, report.seed));
    return;
  }
  const auto lens = call.arguments[indexer.lens].as<int32_t, 1>();
  std::string contexts;
  constexpr int64_t shown = 12;
  for (int64_t i = 0; i < std::min(call.requests(), shown); ++i)
    contexts += (i ? ", " : "") + std::to_string(lens(i));
  if (call.requests() > shown)
    contexts += fmt::format(", ... ({} more)", call.requests() - shown);
  const std::string source =
      indexer.merges()
          ? fmt::format("{} candidates of each of {} ranks", indexer.rankKeep,
                        call.arguments[indexer.rankIds].extent(0))
          : fmt::format("cache of {} pages of {} tokens",
                        call.arguments[indexer.keys].extent(0),
                        indexer.blockSize);
  lines.add("inputs",
            fmt::format("{} request{} of {} tokens; {}, {} index "
                        "head{}, {}; {}",
                        call.requests(), call.requests() == 1 ? "" : "s",
                        call.requests() ? contexts : "0", rowText(call),
                        indexer.heads, indexer.heads == 1 ? "" : "s", source,
                        report.fromFile ? "from the input file"
                                        : fmt::format("seed {}", report.seed)));
}

void addCode(Lines &lines, const RunReport &report) {
  if (report.bundle.sources.empty())
    lines.add("generated", "nothing: no lowering takes it");
  else if (report.fromDescription)
    lines.add("generated",
              fmt::format("HIP in {}{}", timeText(report.generateTime),
                          report.hip.empty() ? " (--keep DIR shows it)"
                                             : ", it lies in " + report.hip));
  else if (!report.hip.empty())
    lines.add("generated", "the bundle's HIP lies in " + report.hip);
  for (const LoadedCode &code : report.codes)
    lines.add("compiled",
              fmt::format("{} for {}: {} bytes {}",
                          report.bundle.sources[code.source].name, code.arch,
                          code.bytes.size(),
                          code.prebuilt ? std::string("from the bundle")
                          : code.cached ? "from the cache"
                                        : "in " + timeText(code.time)));
}

void addLaunches(Lines &lines, const RunReport &report) {
  if (report.device == "host") {
    lines.add("reference", "ran on the host in " + timeText(report.hostTime));
    return;
  }
  for (const LaunchRecord &record : report.launches) {
    lines.add("launch",
              fmt::format("{}: grid {}, block {}, {} waves; "
                          "simulated in {}",
                          record.launch.kernel, shape(record.launch.grid),
                          shape(record.launch.block), record.stats.waves,
                          timeText(record.time)));
    lines.add("", instructions(record.stats));
    lines.add("",
              fmt::format("{} bytes loaded, {} bytes stored",
                          record.stats.bytesLoaded, record.stats.bytesStored));
  }
  if (report.launches.empty())
    lines.add("launch", "none: no requests");
}

/// "520..527", or "520..534 by 2" for interleaved heads.
std::string pageRun(const reference::View<const int32_t, 2> &pages, int64_t row,
                    int64_t first, int64_t count) {
  const int32_t from = pages(row, first);
  const int32_t to = pages(row, first + count - 1);
  if (count == 1)
    return std::to_string(from);
  const int32_t step = pages(row, first + 1) - from;
  return fmt::format("{}..{}{}", from, to,
                     step == 1 ? "" : fmt::format(" by {}", step));
}

void addRow(Lines &lines, const RunReport &report, int64_t row,
            const std::vector<int32_t> &selection) {
  const Call &call = report.call;
  const Indexer &indexer = *call.indexer;
  const reference::Rows rows = call.rows();
  for (int64_t head = 0; head < indexer.heads && !selection.empty(); ++head) {
    std::string kept;
    for (int64_t slot = 0; slot < indexer.keep; ++slot) {
      const int32_t block =
          selection[(head * rows.rows() + row) * indexer.keep + slot];
      if (block < 0)
        continue;
      kept += fmt::format("{}{}", kept.empty() ? "" : "  ", block);
      if (indexer.scores < 0 || block >= rows.visibleBlocks(row))
        continue;
      const float score = call.workspace[indexer.scores].as<float, 3>()(
          head, row, block / rows.world);
      if (score == reference::kLocalBlockScore)
        kept += " (local)";
      else if (score == reference::kInitBlockScore)
        kept += " (init)";
      else
        kept += fmt::format(" ({:.4g})", score);
    }
    lines.add("", fmt::format("row {}, head {} keeps blocks (score): {}", row,
                              head, kept.empty() ? "none" : kept));
  }
  if (!indexer.remap)
    return;
  const auto pages = call.arguments[indexer.pages].as<int32_t, 2>();
  const auto contexts = call.arguments[indexer.contexts].as<int32_t, 1>();
  const int64_t perBlock = indexer.remap->pagesPerBlock;
  for (int64_t kvHead = 0; kvHead < indexer.remap->kvHeads; ++kvHead) {
    const int64_t out = row * indexer.remap->kvHeads + kvHead;
    // Filled slots by the context length: the pad may be a page number.
    const int64_t slots = std::clamp<int64_t>(
        (contexts(out) + rows.blockSize - 1) / rows.blockSize, 0, indexer.keep);
    std::string runs;
    for (int64_t slot = 0; slot < slots; ++slot)
      runs +=
          (slot ? "  " : "") + pageRun(pages, out, slot * perBlock, perBlock);
    lines.add("", fmt::format("page table row {} (kv head {}), {} tokens of "
                              "context: {}",
                              out, kvHead, contexts(out),
                              runs.empty() ? "no pages" : runs));
  }
}

void addRequest(Lines &lines, const RunReport &report) {
  const Call &call = report.call;
  const Indexer &indexer = *call.indexer;
  const int64_t request = report.shownRequest;
  if (request >= call.requests())
    return;
  const reference::Rows rows = call.rows();
  const auto lens = call.arguments[indexer.lens].as<int32_t, 1>();
  lines.add(fmt::format("request {}", request),
            fmt::format("{} tokens in {} blocks", lens(request),
                        rows.blocksSeen(request)));
  std::vector<int32_t> selection;
  if (indexer.selection >= 0) {
    selection = plainSelection(call);
  } else if (indexer.candidateIds >= 0) {
    const auto ids = call.arguments[indexer.candidateIds].as<int32_t, 3>();
    for (int64_t head = 0; head < indexer.heads; ++head)
      for (int64_t row = 0; row < rows.rows(); ++row)
        for (int64_t slot = 0; slot < indexer.keep; ++slot)
          selection.push_back(ids(head, row, slot));
  }
  // A prefill has too many rows to show: its first and its newest.
  constexpr int64_t shown = 4;
  const int64_t first = rows.firstRow(request), count = rows.rowsOf(request);
  for (int64_t t = 0; t < count; ++t) {
    if (!rows.ragged() || t < shown / 2 || t >= count - shown / 2)
      addRow(lines, report, first + t, selection);
    else if (t == shown / 2)
      lines.add("", fmt::format("... ({} rows more)", count - shown));
  }
}

/// "m3_decode_score: chunks 64, waves 8 (description)".
std::string scheduleText(const runtime::Schedule &schedule) {
  std::string text;
  for (const auto &[name, value] : schedule.parameters) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
    if (const auto from = schedule.from.find(name); from != schedule.from.end())
      text += fmt::format(" ({})", runtime::visible(from->second));
  }
  return schedule.kernel + ": " + text;
}

void addCheck(Lines &lines, const Verdict &verdict) {
  std::string summary;
  auto part = [&](const char *name,
                  const std::optional<reference::Comparison> &comparison) {
    if (comparison)
      summary += fmt::format(
          "{}{} {}", summary.empty() ? "" : ", ", name,
          comparison->ok()
              ? fmt::format("match ({})", comparison->checked)
              : fmt::format("DIFFER ({} of {})", comparison->mismatches,
                            comparison->checked));
  };
  auto examples = [&](const std::optional<reference::Comparison> &comparison) {
    if (comparison && !comparison->ok())
      lines.text += comparison->text();
  };
  examples(verdict.scores);
  examples(verdict.selection);
  examples(verdict.candidates);
  examples(verdict.pages);
  examples(verdict.steps);
  examples(verdict.untouched);
  part("scores", verdict.scores);
  part("selection", verdict.selection);
  part("candidates", verdict.candidates);
  part("page table", verdict.pages);
  part("steps", verdict.steps);
  part("untouched memory", verdict.untouched);
  lines.add("check",
            fmt::format("{}: {}",
                        verdict.ok() ? "matches the reference" : "MISMATCH",
                        summary));
}

} // namespace

std::string tool::textReport(const RunReport &report) {
  Lines lines;
  const runtime::Entry &entry = *report.call.indexer->entry;
  lines.add("entry", fmt::format("{} of {}, lowering {}", entry.name,
                                 report.file, entry.lowering));
  for (const runtime::ContractAnswer &answer : report.contracts)
    lines.add("contract", contractText(answer));
  addCode(lines, report);
  for (const runtime::Schedule &schedule : entry.schedules)
    lines.add("schedule", scheduleText(schedule));
  addInputs(lines, report);
  addLaunches(lines, report);
  if (const int64_t scored = pagesScored(report.call); scored >= 0)
    lines.add("scored", fmt::format("{} pages", scored));
  addRequest(lines, report);
  if (report.verdict)
    addCheck(lines, *report.verdict);
  return std::move(lines.text);
}
