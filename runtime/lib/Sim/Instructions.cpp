// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction tables as a page of the documentation: what is simulated, and
// of what LLVM knows for gfx950, what is not.
#include "winnow/Sim/Instructions.h"

#include "Decoder.h"

namespace winnow::sim {

namespace {

/// The names in lines of at most 100 characters.
std::string wrapped(const std::set<std::string> &names) {
  std::string text, line;
  for (const std::string &name : names) {
    std::string word = "`" + name + "`";
    if (!line.empty() && line.size() + 1 + word.size() > 100) {
      text += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return text + line + "\n";
}

/// Instructions that are not simulated, by what they need. The first row whose
/// part of a name fits takes the instruction.
struct Gap {
  const char *part;
  const char *title;
};
constexpr Gap kGaps[] = {
    {"_format_", "Typed buffers: conversions by the buffer's data format"},
    {"ds_gws_", "Global wave synchronisation, shared by all workgroups"},
    {"_lds_", "Loads into LDS"},
    {"buffer_", "Buffer memory"},
    {"s_scratch_", "Scalar scratch"},
    {"s_cbranch_", "Forks, the debugger and the trap handler"},
    {"s_rfe", "Forks, the debugger and the trap handler"},
    {"s_endpgm_", "Forks, the debugger and the trap handler"},
    {"s_set", "Forks, the debugger and the trap handler"},
    {"s_sendmsghalt", "Forks, the debugger and the trap handler"},
    {"v_smfmac_", "Matrix"},
    {"v_mfma_", "Matrix"},
    {"v_cvt_", "Conversions"},
    {"_legacy_", "Multiply-add with intermediate rounding, legacy functions"},
    {"v_ma", "Multiply-add with intermediate rounding, legacy functions"},
    {"", "Others"}};

} // namespace

std::set<std::string> simulatedInstructions() {
  std::set<std::string> names;
  for (const OperationTable &part : operationTables())
    for (const Operation &op : part.operations)
      names.insert(op.name);
  return names;
}

std::string instructionTable() {
  std::set<std::string> all = instructionSet(), simulated;
  std::string body;
  for (const OperationTable &part : operationTables()) {
    // By name: the order of the tables is no order for a reader.
    std::set<std::string> names;
    for (const Operation &op : part.operations)
      names.insert(op.name);
    simulated.insert(names.begin(), names.end());
    body += std::string("\n## ") + part.title + " (" +
            std::to_string(names.size()) + ")\n\n" + wrapped(names);
  }
  std::vector<std::pair<std::string, std::set<std::string>>> gaps;
  size_t missing = 0;
  for (const Gap &gap : kGaps)
    if (gaps.empty() || gaps.back().first != gap.title)
      gaps.emplace_back(gap.title, std::set<std::string>());
  for (const std::string &name : all) {
    if (simulated.contains(name))
      continue;
    ++missing;
    for (const Gap &gap : kGaps)
      if (name.find(gap.part) != name.npos) {
        for (auto &[title, names] : gaps)
          if (title == gap.title)
            names.insert(name);
        break;
      }
  }
  std::string text =
      "# Instructions of the simulated gfx950\n\n"
      "<!-- Written by `winnow sim --instructions`; a test compares it. "
      "-->\n\n"
      "Of the " +
      std::to_string(all.size()) +
      " instructions that LLVM decodes for gfx950, " +
      std::to_string(all.size() - missing) + " are simulated and " +
      std::to_string(missing) +
      " are not. An\ninstruction counts once, whatever encodings it has (VOP1, "
      "VOP2, VOPC and VOP3 with their modifiers,\nSDWA and DPP). What is not "
      "simulated stops a launch when it is reached, with its name; so does a\n"
      "combination of modifiers, and an operand whose result no manual "
      "settles.\n" +
      body + "\n# Not simulated (" + std::to_string(missing) + ")\n";
  for (const auto &[title, names] : gaps)
    if (!names.empty())
      text += "\n## " + title + " (" + std::to_string(names.size()) + ")\n\n" +
              wrapped(names);
  return text;
}

} // namespace winnow::sim
