// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiles as one page: a roofline for MI355X, totals, and each kernel's code
// with its heat. No script, nothing loaded from elsewhere.
#include "winnow/Sim/Profile.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace winnow::sim {
namespace {

template <typename... Args> std::string format(const char *text, Args... args) {
  char buffer[1024];
  std::snprintf(buffer, sizeof(buffer), text, args...);
  return buffer;
}
using ull = unsigned long long;

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  return out;
}

/// 1234567 as "1 234 567", with spaces that do not break.
std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value), out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0)
      out += "&#8239;";
    out += digits[i];
  }
  return out;
}
std::string countCell(uint64_t value) {
  return "<td class=n>" + (value ? grouped(value) : std::string()) + "</td>";
}

const char *kStyle = R"(<style>
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; color: #1b1f24; background: #fff;
       max-width: 1400px; margin: 2em auto; padding: 0 1.5em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2em; }
table { border-collapse: collapse; font-size: 13px; }
th { text-align: left; font-weight: 600; border-bottom: 1px solid #8a929b;
     padding: 3px 10px; position: sticky; top: 0; background: #fff; }
td { padding: 1px 10px; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.code { font-family: ui-monospace, monospace; white-space: pre; }
tr.cold td { color: #8a929b; }
table.parts { margin-bottom: 1.5em; }
td.units { color: #57606a; white-space: normal; min-width: 24em; }
dl { display: grid; grid-template-columns: max-content auto; gap: 2px 16px; }
dt { color: #57606a; } dd { margin: 0; max-width: 56em; }
svg text { font: 12px system-ui, sans-serif; fill: #1b1f24; }
p.note { color: #57606a; max-width: 60em; }
</style>
)";

/// Log-log axes of the roofline: operations a byte, operations a second.
class Roofline {
public:
  std::string draw(const std::vector<const KernelProfile *> &profiles) {
    out = format("<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" "
                 "aria-label=\"Roofline of MI355X\">\n",
                 kWidth, kHeight, kWidth);
    axes();
    double ridge = machine.matrixOperationsPerSecond / machine.bytesPerSecond;
    line(kLeast, kLeast * machine.bytesPerSecond, ridge,
         machine.matrixOperationsPerSecond, "#1f5fbf", "");
    line(ridge, machine.matrixOperationsPerSecond, kMost,
         machine.matrixOperationsPerSecond, "#1f5fbf", "");
    out += format("<text x=\"%.1f\" y=\"%.1f\">%.3g TB/s of HBM</text>\n",
                  x(4.0) + 8, y(4.0 * machine.bytesPerSecond) + 16,
                  machine.bytesPerSecond / 1e12);
    out += format("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.3g "
                  "Pop/s, dense fp8 matrices</text>\n",
                  x(kMost) - 6, y(machine.matrixOperationsPerSecond) - 7,
                  machine.matrixOperationsPerSecond / 1e15);
    unsigned shown = 0;
    for (const KernelProfile *p : profiles)
      if (p->total.mfmaOperations && p->distinctBytes)
        point(*p, shown++);
    return out + "</svg>\n";
  }

private:
  static constexpr int kWidth = 860, kHeight = 430;
  static constexpr int kLeft = 78, kRight = 24, kTop = 24, kBottom = 52;
  static constexpr double kLeast = 0.1, kMost = 10000; // five decades
  static constexpr double kLow = 1e10, kHigh = 1e16;

  double x(double v) const {
    v = std::clamp(v, kLeast, kMost);
    return kLeft + (kWidth - kLeft - kRight) * std::log10(v / kLeast) /
                       std::log10(kMost / kLeast);
  }
  double y(double v) const {
    v = std::clamp(v, kLow, kHigh);
    return kHeight - kBottom -
           (kHeight - kTop - kBottom) * std::log10(v / kLow) /
               std::log10(kHigh / kLow);
  }
  void line(double x0, double y0, double x1, double y1, const char *colour,
            const char *more) {
    out += format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
                  "stroke=\"%s\" stroke-width=\"2\" %s/>\n",
                  x(x0), y(y0), x(x1), y(y1), colour, more);
  }
  void axes() {
    for (int decade = 0; decade <= 5; ++decade) {
      const double v = kLeast * std::pow(10.0, decade);
      out += format("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" "
                    "stroke=\"#d5d9de\"/><text x=\"%.1f\" y=\"%d\" "
                    "text-anchor=\"middle\">%g</text>\n",
                    x(v), kTop, x(v), kHeight - kBottom, x(v),
                    kHeight - kBottom + 18, v);
    }
    static const char *names[] = {"10 Gop/s", "100 Gop/s", "1 Top/s",
                                  "10 Top/s", "100 Top/s", "1 Pop/s",
                                  "10 Pop/s"};
    double v = kLow;
    for (const char *name : names) {
      out +=
          format("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" "
                 "stroke=\"#d5d9de\"/><text x=\"%d\" y=\"%.1f\" "
                 "text-anchor=\"end\">%s</text>\n",
                 kLeft, y(v), kWidth - kRight, y(v), kLeft - 7, y(v) + 4, name);
      v *= 10;
    }
    out += format("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">matrix "
                  "operations a byte of different global memory</text>\n",
                  (kLeft + kWidth - kRight) / 2, kHeight - 10);
  }
  void point(const KernelProfile &p, unsigned index) {
    double ops = double(p.total.mfmaOperations);
    double intensity = ops / double(p.distinctBytes);
    double reached = ops / estimatedSeconds(p);
    double most = std::min(machine.matrixOperationsPerSecond,
                           intensity * machine.bytesPerSecond);
    line(intensity, reached, intensity, most, "#c2410c",
         "stroke-dasharray=\"3 3\"");
    std::string label =
        p.kernel +
        format(": %.3g op/byte, %s at %.3g Top/s", intensity,
               reached < 0.999 * most ? "bound by issue" : "bound by memory",
               reached / 1e12);
    // The label goes where there is room, at about 7 a character.
    bool isRight =
        x(intensity) + 10 + 7.0 * double(label.size()) > kWidth - kRight;
    out += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5.5\" "
                  "fill=\"#c2410c\"/>\n<text x=\"%.1f\" y=\"%.1f\" "
                  "text-anchor=\"%s\">",
                  x(intensity), y(reached), x(intensity) + (isRight ? -10 : 10),
                  y(reached) + (isRight ? -8 : 18) + 15 * index,
                  isRight ? "end" : "start") +
           escaped(label) + "</text>\n";
  }

  MachineFigures machine;
  std::string out;
};

std::string totals(const KernelProfile &p) {
  const Counters &t = p.total;
  std::string out = "<dl>";
  auto row = [&](const char *name, const std::string &value) {
    out += std::string("<dt>") + name + "</dt><dd>" + value + "</dd>";
  };
  row("Workgroups", grouped(p.workgroups) + ", " + grouped(p.waves) + " waves");
  row("Wave instructions", grouped(t.executions));
  row("Global memory", grouped(t.bytesLoaded) + " bytes loaded, " +
                           grouped(t.bytesStored) + " stored, " +
                           grouped(p.distinctBytes) + " different");
  row("Coalescing",
      format("%.1f%% of the bytes of the 64-byte lines touched "
             "were asked for; such lines move %.2f times the "
             "fewest bytes, 128-byte lines %.2f times",
             100 * t.coalescing(), p.trafficFactor(64), p.trafficFactor(128)));
  row("LDS", grouped(t.ldsBytes) + " bytes, " + grouped(t.bankConflictCycles) +
                 " cycles of bank conflicts");
  row("Matrix", grouped(t.mfmaPasses) + " passes, " +
                    grouped(t.mfmaOperations) + " operations");
  row("Waits", grouped(t.waits) + ", for " + grouped(t.waitedOperations) +
                   " memory operations");
  row("Estimate", grouped(t.issueCycles) +
                      format(" issue cycles; at least %.3g &micro;s on an "
                             "evenly loaded MI355X",
                             1e6 * estimatedSeconds(p)));
  return out + "</dl>\n";
}

/// The colour behind a share. By the square root: warm lines stay apart from
/// cold ones.
std::string heat(uint64_t cycles, uint64_t most) {
  return format("style=\"background: rgba(234, 88, 12, %.2f)\"",
                0.75 * std::sqrt(double(cycles) / double(most)));
}

/// Sums by unit, or by source line with what units they are of.
std::string parts(const KernelProfile &p, const char *title,
                  const std::vector<ProfilePart> &all, bool hasUnits) {
  if (all.empty())
    return "";
  uint64_t most = 1;
  for (const ProfilePart &part : all)
    most = std::max(most, part.counters.issueCycles);
  double total = std::max<double>(1, double(p.total.issueCycles));
  std::string out = std::string("<table class=parts><tr><th>") + title +
                    "</th><th class=n>share</th><th class=n>cycles</th><th "
                    "class=n>executed</th><th class=n>bytes</th><th "
                    "class=n>64-byte lines</th><th class=n>waits</th>";
  out += hasUnits ? "<th>by unit</th></tr>\n" : "</tr>\n";
  for (const ProfilePart &part : all) {
    const Counters &c = part.counters;
    out += "<tr><td>" + escaped(part.name) + "</td><td class=n " +
           heat(c.issueCycles, most) +
           format(">%.1f%%</td>", 100 * double(c.issueCycles) / total) +
           countCell(c.issueCycles) + countCell(c.executions) +
           countCell(c.bytes()) + countCell(c.lines64) + countCell(c.waits);
    if (hasUnits) {
      out += "<td class=units>";
      const char *separator = "";
      for (const auto &[unit, executions] : part.units) {
        out += separator + unit + " " + grouped(executions);
        separator = ", ";
      }
      out += "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

const char *kAssumptions = R"(<h2>What the cycles assume</h2>
<table><tr><th>instruction</th><th>clocks</th></tr>
<tr><td>vector ALU</td><td>4: 64 lanes, 16 a clock</td></tr>
<tr><td>exp, log, rcp, rsq, sqrt, sin, cos</td><td>16</td></tr>
<tr><td>matrix</td><td>4 a pass, passes as LLVM's scheduling model of gfx950 has them</td></tr>
<tr><td>vector memory</td><td>4, or one for each 64-byte line if that is more</td></tr>
<tr><td>LDS</td><td>4, or its data at 128 bytes a clock and its bank conflicts if that is more</td></tr>
<tr><td>s_nop n</td><td>4 (n + 1)</td></tr>
<tr><td>scalar, branches, waits</td><td>4</td></tr></table>
<p class=note>A launch takes the longer one of its cycles over 256 compute units of 4 SIMDs at 2.4 GHz and of its
different bytes over 8 TB/s. Latencies, dependencies, instruction fetch, caches and launch overhead are left out.</p>
)";

std::string listing(const KernelProfile &p) {
  uint64_t most = 1;
  bool hasSource = false;
  for (const InstructionProfile &in : p.instructions) {
    most = std::max(most, in.counters.issueCycles);
    hasSource |= !in.source.empty();
  }
  double total = std::max<double>(1, double(p.total.issueCycles));
  std::string out =
      "<table><tr><th class=n>offset</th><th class=n>share</th><th "
      "class=n>cycles</th><th class=n>executed</th><th>instruction</th>";
  if (hasSource)
    out += "<th>source</th>";
  out += "<th class=n>bytes</th><th class=n>coalescing</th><th "
         "class=n>conflict cycles</th></tr>\n";
  for (const InstructionProfile &in : p.instructions) {
    const Counters &c = in.counters;
    out += c.executions ? "<tr>" : "<tr class=cold>";
    out += format("<td class=n>%s0x%llx</td>", in.offset < 0 ? "-" : "+",
                  ull(std::llabs(in.offset)));
    out += "<td class=n " + heat(c.issueCycles, most) + ">" +
           (c.executions ? format("%.1f%%", 100 * double(c.issueCycles) / total)
                         : "") +
           "</td>";
    out += countCell(c.issueCycles) + countCell(c.executions);
    out += "<td class=code>" + escaped(in.text) + "</td>";
    if (hasSource)
      out += "<td>" + escaped(in.source) + "</td>";
    out += countCell(c.bytes());
    out += "<td class=n>" +
           (c.lines64 ? format("%.0f%%", 100 * c.coalescing()) : "") + "</td>";
    out += countCell(c.bankConflictCycles) + "</tr>\n";
  }
  return out + "</table>\n";
}

} // namespace

std::string profileHtml(const std::string &title,
                        const std::vector<const KernelProfile *> &profiles) {
  std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta "
                    "charset=\"utf-8\"><title>" +
                    escaped(title) + "</title>\n" + kStyle +
                    "</head><body>\n<h1>" + escaped(title) + "</h1>\n";
  out += "<p class=note>Counted on a simulated gfx950. Cycles are clocks in "
         "which an instruction keeps its unit busy; latencies and waiting are "
         "not in them, so that estimates are lower bounds to compare kernels "
         "by, not times to expect.</p>\n";
  out += "<h2>Roofline, MI355X</h2>\n" + Roofline().draw(profiles);
  for (const KernelProfile *p : profiles)
    if (!p->total.mfmaOperations)
      out += "<p class=note>" + escaped(p->kernel) +
             " has no matrix operations and is not in the picture.</p>\n";
  for (const KernelProfile *p : profiles)
    out += "<h2>" + escaped(p->kernel) + "</h2>\n" + totals(*p) +
           parts(*p, "unit", profileByUnit(*p), false) +
           parts(*p, "source line", profileByLine(*p), true) + listing(*p);
  return out + kAssumptions + "</body></html>\n";
}

} // namespace winnow::sim
