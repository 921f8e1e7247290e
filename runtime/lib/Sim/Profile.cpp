// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiles as a table and as JSON.
#include "winnow/Sim/Profile.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace winnow::sim {

Counters &Counters::operator+=(const Counters &other) {
  executions += other.executions;
  activeLanes += other.activeLanes;
  bytesLoaded += other.bytesLoaded;
  bytesStored += other.bytesStored;
  differentBytes += other.differentBytes;
  lines64 += other.lines64;
  lines128 += other.lines128;
  ldsBytes += other.ldsBytes;
  bankConflictCycles += other.bankConflictCycles;
  mfmaPasses += other.mfmaPasses;
  mfmaOperations += other.mfmaOperations;
  waits += other.waits;
  waitedOperations += other.waitedOperations;
  issueCycles += other.issueCycles;
  return *this;
}

double Counters::coalescing() const {
  return lines64 ? double(differentBytes) / (64.0 * double(lines64)) : 1.0;
}

double KernelProfile::trafficFactor(unsigned lineBytes) const {
  uint64_t lines = lineBytes == 64 ? total.lines64 : total.lines128;
  return distinctBytes
             ? double(lineBytes) * double(lines) / double(distinctBytes)
             : 1.0;
}

namespace {

template <typename... Args> std::string format(const char *text, Args... args) {
  char buffer[512];
  std::snprintf(buffer, sizeof(buffer), text, args...);
  return buffer;
}
using ull = unsigned long long;

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += format("\\u%04x", unsigned(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string countersJson(const Counters &c) {
  return format(
      "\"executions\": %llu, \"active_lanes\": %llu, \"bytes_loaded\": %llu, "
      "\"bytes_stored\": %llu, \"different_bytes\": %llu, \"lines_64\": %llu, "
      "\"lines_128\": %llu, "
      "\"lds_bytes\": %llu, \"bank_conflict_cycles\": %llu, \"mfma_passes\": "
      "%llu, \"mfma_operations\": %llu, \"waits\": %llu, "
      "\"waited_operations\": %llu, \"issue_cycles\": %llu",
      ull(c.executions), ull(c.activeLanes), ull(c.bytesLoaded),
      ull(c.bytesStored), ull(c.differentBytes), ull(c.lines64),
      ull(c.lines128), ull(c.ldsBytes), ull(c.bankConflictCycles),
      ull(c.mfmaPasses), ull(c.mfmaOperations), ull(c.waits),
      ull(c.waitedOperations), ull(c.issueCycles));
}

std::string hexOffset(int64_t offset) {
  return offset < 0 ? format("-0x%llx", ull(-offset))
                    : format("+0x%llx", ull(offset));
}

/// Sums by key, in the order of the keys.
template <typename Key>
std::vector<ProfilePart> partsBy(const KernelProfile &p, Key key) {
  std::map<std::string, ProfilePart> parts;
  std::map<std::string, std::map<std::string, uint64_t>> units;
  for (const InstructionProfile &in : p.instructions) {
    const std::string &name = key(in);
    if (!in.counters.executions || name.empty())
      continue;
    parts[name].name = name;
    parts[name].counters += in.counters;
    units[name][in.unit] += in.counters.executions;
  }
  std::vector<ProfilePart> out;
  for (auto &[name, part] : parts) {
    part.units.assign(units[name].begin(), units[name].end());
    out.push_back(std::move(part));
  }
  return out;
}

std::string partsJson(const std::vector<ProfilePart> &parts) {
  std::string out = "[";
  for (const ProfilePart &part : parts) {
    out += out.size() > 1 ? ",\n  " : "\n  ";
    out += "{\"name\": " + quoted(part.name) + ", " +
           countersJson(part.counters) + ", \"units\": {";
    const char *separator = "";
    for (const auto &[unit, executions] : part.units) {
      out += separator + quoted(unit) + format(": %llu", ull(executions));
      separator = ", ";
    }
    out += "}}";
  }
  return out + "]";
}

} // namespace

std::vector<ProfilePart> profileByUnit(const KernelProfile &profile) {
  return partsBy(
      profile, [](const InstructionProfile &in) -> auto & { return in.unit; });
}
std::vector<ProfilePart> profileByLine(const KernelProfile &profile) {
  return partsBy(profile, [](const InstructionProfile &in) -> auto & {
    return in.source;
  });
}

std::string profileText(const KernelProfile &p, unsigned hottest) {
  const Counters &t = p.total;
  std::string out = "profile of " + p.kernel + "\n";
  auto row = [&](const char *name, const std::string &value) {
    out += format("  %-22s", name) + value + "\n";
  };
  row("workgroups, waves",
      format("%llu, %llu", ull(p.workgroups), ull(p.waves)));
  double lanes =
      t.executions ? double(t.activeLanes) / double(t.executions) / 0.64 : 0;
  row("wave instructions",
      format("%llu, %.1f%% of their lanes active", ull(t.executions), lanes));
  row("global bytes",
      format("%llu loaded, %llu stored; %llu different", ull(t.bytesLoaded),
             ull(t.bytesStored), ull(p.distinctBytes)));
  row("lines touched",
      format("%llu of 64 bytes (coalescing %.1f%%, %.2fx the fewest bytes), "
             "%llu of 128 bytes (%.2fx)",
             ull(t.lines64), 100 * t.coalescing(), p.trafficFactor(64),
             ull(t.lines128), p.trafficFactor(128)));
  row("LDS", format("%llu bytes, %llu cycles of bank conflicts",
                    ull(t.ldsBytes), ull(t.bankConflictCycles)));
  row("matrix", format("%llu passes, %.4g operations", ull(t.mfmaPasses),
                       double(t.mfmaOperations)));
  row("waits", format("%llu, for %llu memory operations", ull(t.waits),
                      ull(t.waitedOperations)));
  MachineFigures machine;
  double memory = double(p.distinctBytes) / machine.bytesPerSecond;
  double seconds = estimatedSeconds(p);
  row("estimate",
      format("%llu issue cycles; at least %.3g us on an evenly loaded MI355X, "
             "bound by %s",
             ull(t.issueCycles), 1e6 * seconds,
             memory >= seconds ? "memory" : "issue"));
  row("dealt out", format("about %.3g us, at most %llu workgroups at once",
                          1e6 * scheduledSeconds(p), ull(p.residentGroups)));

  out += "\n  unit             instructions   issue cycles   share\n";
  double cycles = std::max<double>(1, double(t.issueCycles));
  for (const ProfilePart &unit : profileByUnit(p))
    out += format("  %-15s %13llu %14llu %6.1f%%\n", unit.name.c_str(),
                  ull(unit.counters.executions), ull(unit.counters.issueCycles),
                  100 * double(unit.counters.issueCycles) / cycles);

  std::vector<ProfilePart> lines = profileByLine(p);
  if (!lines.empty()) {
    std::sort(lines.begin(), lines.end(), [](auto &a, auto &b) {
      return std::pair(b.counters.issueCycles, a.name) <
             std::pair(a.counters.issueCycles, b.name);
    });
    out += "\n  source line                 instructions   issue cycles   "
           "share  by unit\n";
    for (size_t i = 0; i < std::min<size_t>(lines.size(), hottest); ++i) {
      const Counters &c = lines[i].counters;
      out += format("  %-26s %13llu %14llu %6.1f%% ", lines[i].name.c_str(),
                    ull(c.executions), ull(c.issueCycles),
                    100 * double(c.issueCycles) / cycles);
      for (const auto &[unit, executions] : lines[i].units)
        out += format(" %s %llu", unit.c_str(), ull(executions));
      out += "\n";
    }
  }

  std::vector<const InstructionProfile *> hot;
  for (const InstructionProfile &in : p.instructions)
    if (in.counters.executions)
      hot.push_back(&in);
  std::sort(hot.begin(), hot.end(), [](auto *a, auto *b) {
    return std::pair(b->counters.issueCycles, a->offset) <
           std::pair(a->counters.issueCycles, b->offset);
  });
  hot.resize(std::min<size_t>(hot.size(), hottest));
  out += "\n  offset      executed   issue cycles   share  instruction\n";
  for (const InstructionProfile *in : hot)
    out +=
        format("  %-8s %11llu %14llu %6.1f%%  ", hexOffset(in->offset).c_str(),
               ull(in->counters.executions), ull(in->counters.issueCycles),
               100 * double(in->counters.issueCycles) / cycles) +
        in->text + "\n";
  return out;
}

std::string profileJson(const KernelProfile &p) {
  std::string out =
      "{\"kernel\": " + quoted(p.kernel) +
      format(", \"workgroups\": %llu, \"waves\": %llu, "
             "\"distinct_bytes\": %llu, \"coalescing\": %.6f, "
             "\"traffic_factor_64\": %.6f, \"traffic_factor_128\": %.6f, "
             "\"estimated_seconds\": %.6e, \"scheduled_seconds\": %.6e, "
             "\"resident_groups\": %llu, \"total\": {",
             ull(p.workgroups), ull(p.waves), ull(p.distinctBytes),
             p.total.coalescing(), p.trafficFactor(64), p.trafficFactor(128),
             estimatedSeconds(p), scheduledSeconds(p), ull(p.residentGroups)) +
      countersJson(p.total) + "}, \"units\": " + partsJson(profileByUnit(p)) +
      ", \"lines\": " + partsJson(profileByLine(p)) + ", \"instructions\": [";
  bool first = true;
  for (const InstructionProfile &in : p.instructions) {
    out += first ? "\n  " : ",\n  ";
    first = false;
    out += format("{\"offset\": %lld, ", static_cast<long long>(in.offset)) +
           "\"text\": " + quoted(in.text) +
           ", \"source\": " + quoted(in.source) +
           ", \"unit\": " + quoted(in.unit) + ", " + countersJson(in.counters) +
           "}";
  }
  return out + "]}";
}

} // namespace winnow::sim
