// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a plan tells of itself: a line for logs, text for people, JSON for
// programs.
#include "winnow/Runtime/Plan.h"
#include "winnow/Runtime/Visible.h"

#include <nlohmann/json.hpp>

#include <cstdio>

using namespace winnow;
using namespace winnow::runtime;
using Json = nlohmann::ordered_json;

namespace {

std::string milliseconds(std::chrono::microseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms",
                static_cast<double>(time.count()) / 1000);
  return text;
}

std::string join(const std::vector<std::string> &parts, const char *between) {
  std::string all;
  for (const std::string &part : parts)
    all += (all.empty() ? "" : between) + part;
  return all;
}

/// A compiler's log must not break the line, nor a bundle's text anything.
std::string oneLine(const std::string &text) {
  std::string line = visibleLines(text);
  for (char &c : line)
    if (c == '\n')
      c = ' ';
  return line;
}

} // namespace

std::string PlanReport::line() const {
  std::string text = "plan '" + entry + "' on " + device + " (" + arch +
                     "): lowering " + lowering + ", from " + from + ", " +
                     milliseconds(time) + ", key " + join(keys, "+");
  if (!compiling.empty())
    text += "; compiling " + join(compiling, ", ") + " behind it";
  for (const Refused &each : refused)
    text += "; not " + each.lowering + ": " + join(each.reasons, " | ");
  return oneLine(text);
}

std::string PlanReport::bounds() const {
  std::string text;
  const std::pair<const char *, int64_t> bounds[] = {
      {"max_seq_len", maxSeqLen},
      {"max_requests", maxRequests},
      {"max_query_len", maxQueryLen},
      {"max_rows", maxRows}};
  const char *between = " ";
  for (const auto &[name, value] : bounds)
    if (value != 0) {
      text += std::string(between) + name + " " + std::to_string(value);
      between = ", ";
    }
  return text;
}

std::string PlanReport::text() const {
  if (lowering.empty())
    return visibleLines(error) + "\n";
  std::string text =
      entry + " on " + device + " (" + arch + "): " + lowering +
      "\n  code: from " + from + " in " + milliseconds(time) +
      // Its name and version; the options are in the JSON.
      (compiler.empty()
           ? ""
           : ", made by " + compiler.substr(0, compiler.find(" -"))) +
      "\n  key: " + join(keys, " ") + "\n  bounds:" + bounds();
  text += "\n  workspace: " + std::to_string(workspaceBytes) + " bytes\n";
  for (const Refused &each : refused)
    for (const std::string &reason : each.reasons)
      text += "  not " + each.lowering + ": " + reason + "\n";
  for (const std::string &each : compiling)
    text += "  being compiled: " + each + "\n";
  return visibleLines(text);
}

std::string PlanReport::json() const {
  Json others = Json::array();
  for (const Refused &each : refused)
    others.push_back(
        Json{{"lowering", each.lowering}, {"reasons", each.reasons}});
  Json bounds{{"max_seq_len", maxSeqLen}, {"max_requests", maxRequests}};
  if (maxQueryLen != 0)
    bounds["max_query_len"] = maxQueryLen;
  if (maxRows != 0)
    bounds["max_rows"] = maxRows;
  if (lowering.empty())
    return Json{{"entry", entry},
                {"device", device},
                {"arch", arch},
                {"lowering", nullptr},
                {"bounds", bounds},
                {"error", error},
                {"refused", std::move(others)}}
        .dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  return Json{{"entry", entry},
              {"device", device},
              {"arch", arch},
              {"lowering", lowering},
              {"from", from},
              {"compiler", compiler.empty() ? Json(nullptr) : Json(compiler)},
              {"keys", keys},
              {"milliseconds", static_cast<double>(time.count()) / 1000},
              {"bounds", bounds},
              {"workspace_bytes", workspaceBytes},
              {"refused", std::move(others)},
              {"compiling", compiling}}
      .dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}
