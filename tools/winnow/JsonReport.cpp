// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report of a run for programs.
#include "Print.h"
#include "Report.h"

#include <nlohmann/json.hpp>

using namespace winnow;
using namespace winnow::tool;
using Json = nlohmann::ordered_json;

namespace {

Json contractsJson(const RunReport &report) {
  Json list = Json::array();
  for (const runtime::ContractAnswer &answer : report.contracts) {
    Json violations = Json::array(), deferred = Json::array();
    for (const contract::Violation &violation : answer.report.violations)
      violations.push_back(Json{{"limit", violation.limit},
                                {"found", violation.found},
                                {"needed", violation.needed},
                                {"message", violation.message()}});
    for (const contract::Deferred &limit : answer.report.deferred)
      deferred.push_back(limit.limit);
    list.push_back(Json{{"contract", answer.contract},
                        {"met", answer.report.met()},
                        {"violations", std::move(violations)},
                        {"deferred", std::move(deferred)}});
  }
  return list;
}

Json codesJson(const RunReport &report) {
  Json list = Json::array();
  for (const LoadedCode &code : report.codes)
    list.push_back(Json{{"source", report.bundle.sources[code.source].name},
                        {"arch", code.arch},
                        {"bytes", code.bytes.size()},
                        {"prebuilt", code.prebuilt},
                        {"cached", code.cached},
                        {"compile_us", code.time.count()}});
  return list;
}

Json schedulesJson(const runtime::Entry &entry) {
  Json schedules = Json::array();
  for (const runtime::Schedule &schedule : entry.schedules)
    schedules.push_back(Json{{"kernel", schedule.kernel},
                             {"parameters", schedule.parameters},
                             {"from", schedule.from}});
  return schedules;
}

Json launchesJson(const RunReport &report) {
  Json list = Json::array();
  for (const LaunchRecord &record : report.launches) {
    const sim::LaunchStats &stats = record.stats;
    list.push_back(Json{{"kernel", record.launch.kernel},
                        {"grid_workgroups", record.launch.grid},
                        {"block", record.launch.block},
                        {"waves", stats.waves},
                        {"instructions", stats.instructions},
                        {"valu", stats.valu},
                        {"salu", stats.salu},
                        {"mfma", stats.mfma},
                        {"vector_loads", stats.vectorLoads},
                        {"vector_stores", stats.vectorStores},
                        {"vector_atomics", stats.vectorAtomics},
                        {"scalar_loads", stats.scalarMemory},
                        {"lds", stats.lds},
                        {"branches", stats.branches},
                        {"waits", stats.waits},
                        {"bytes_loaded", stats.bytesLoaded},
                        {"bytes_stored", stats.bytesStored},
                        {"simulated_us", record.time.count()}});
    for (const sim::Finding &finding : stats.findings)
      list.back()["findings"].push_back(
          Json{{"check", sim::nameOf(finding.kind)},
               {"message", finding.message},
               {"count", finding.count}});
    if (stats.profile)
      list.back()["profile"] = Json::parse(sim::profileJson(*stats.profile));
  }
  return list;
}

Json requestJson(const RunReport &report) {
  const Call &call = report.call;
  const Indexer &indexer = *call.indexer;
  if (report.shownRequest >= call.requests())
    return nullptr;
  const reference::Rows rows = call.rows();
  Json json{{"request", report.shownRequest},
            {"tokens", call.arguments[indexer.lens].as<int32_t, 1>()(
                           report.shownRequest)}};
  Json selected = Json::array(), tables = Json::array();
  for (int64_t row = rows.firstRow(report.shownRequest);
       row < rows.firstRow(report.shownRequest + 1); ++row) {
    for (int64_t head = 0; head < indexer.heads && indexer.selection >= 0;
         ++head) {
      Json blocks = Json::array();
      for (int64_t slot = 0; slot < indexer.keep; ++slot)
        blocks.push_back(call.selection()(head, row, slot));
      selected.push_back(
          Json{{"row", row}, {"head", head}, {"blocks", std::move(blocks)}});
    }
    for (int64_t kv = 0; indexer.remap && kv < indexer.remap->kvHeads; ++kv) {
      const int64_t out = row * indexer.remap->kvHeads + kv;
      Json pages = Json::array();
      for (int64_t entry = 0;
           entry < indexer.keep * indexer.remap->pagesPerBlock; ++entry)
        pages.push_back(
            call.arguments[indexer.pages].as<int32_t, 2>()(out, entry));
      tables.push_back(Json{
          {"row", out},
          {"context", call.arguments[indexer.contexts].as<int32_t, 1>()(out)},
          {"pages", std::move(pages)}});
    }
  }
  json["selected"] = std::move(selected);
  json["page_table"] = std::move(tables);
  return json;
}

Json comparisonJson(const reference::Comparison &comparison) {
  Json examples = Json::array();
  for (const reference::Mismatch &mismatch : comparison.examples)
    examples.push_back(mismatch.text());
  return Json{{"match", comparison.ok()},
              {"checked", comparison.checked},
              {"mismatches", comparison.mismatches},
              {"examples", std::move(examples)}};
}

Json verdictJson(const RunReport &report) {
  if (!report.verdict)
    return nullptr;
  auto part = [](const std::optional<reference::Comparison> &comparison) {
    return comparison ? comparisonJson(*comparison) : Json(nullptr);
  };
  return Json{{"match", report.verdict->ok()},
              {"scores", part(report.verdict->scores)},
              {"selection", part(report.verdict->selection)},
              {"candidates", part(report.verdict->candidates)},
              {"page_table", part(report.verdict->pages)},
              {"steps", part(report.verdict->steps)},
              {"untouched", comparisonJson(report.verdict->untouched)}};
}

} // namespace

std::string tool::jsonReport(const RunReport &report) {
  const Call &call = report.call;
  const Indexer &indexer = *call.indexer;
  Json lengths = Json::array();
  for (int64_t i = 0; i < call.requests(); ++i)
    lengths.push_back(call.arguments[indexer.lens].as<int32_t, 1>()(i));
  Json json{
      {"entry", indexer.entry->name},
      {"file", report.file},
      {"device", report.device},
      {"lowering", indexer.entry->lowering},
      {"contracts", contractsJson(report)},
      {"generate_us", report.fromDescription ? Json(report.generateTime.count())
                                             : Json(nullptr)},
      {"hip_folder", report.hip.empty() ? Json(nullptr) : Json(report.hip)},
      {"code_objects", codesJson(report)},
      {"seed", report.fromFile ? Json(nullptr) : Json(report.seed)},
      {"lengths", std::move(lengths)},
      {"pages_scored",
       pagesScored(call) < 0 ? Json(nullptr) : Json(pagesScored(call))},
      {"schedules", schedulesJson(*indexer.entry)},
      {"launches", launchesJson(report)},
      {"shown", requestJson(report)},
      {"check", verdictJson(report)}};
  return jsonText(json) + "\n";
}
