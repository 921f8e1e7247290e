// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// docs/reference/contracts.md, written from the data alone.
#include "winnow/Contract/Evaluate.h"
#include "winnow/Contract/Render.h"

#include "Vocabulary.h"

namespace winnow::contract {

namespace {

/// A cell: a bar would end it.
std::string cell(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '|')
      result += '\\';
    result += c;
  }
  return result;
}

std::string code(const std::string &text) { return "`" + text + "`"; }

std::string whenText(const Limit &limit) {
  std::string text;
  for (const auto &[name, value] : limit.when)
    text += (text.empty() ? "" : ", ") + code(name + " = " + valueText(value));
  return text;
}

/// The operations that a limit is about.
std::string aboutText(const Limit &limit) {
  std::string text;
  for (const std::string &name : limit.operations)
    text += (text.empty() ? "" : ", ") + code(name);
  return text.empty() ? "all" : text;
}

std::string assertedText(const Limit &limit) {
  std::string text;
  for (const std::string &name : deviceStructs())
    if (auto test = condition(limit, name))
      text += (text.empty() ? "" : "<br>") + code(*test);
  return text;
}

std::string factsTable() {
  std::string text = "| fact | kind | what it is | where it is found | device "
                     "constant |\n| --- | --- | --- | --- | --- |\n";
  for (const FactInfo &fact : vocabulary()) {
    std::string kind = fact.kind == Kind::Int    ? "integer"
                       : fact.kind == Kind::Bool ? "true or false"
                                                 : "text";
    if (!fact.unit.empty())
      kind += " (" + fact.unit + "s)";
    for (size_t i = 0; i < fact.values.size(); ++i)
      kind += (i ? ", " : ": ") + code(fact.values[i]);
    std::string constants;
    for (const auto &[name, constant] : fact.constants)
      constants +=
          (constants.empty() ? "" : ", ") + code(qualified(name, constant));
    text += "| " + code(fact.name) + " | " + cell(kind) + " | " +
            cell(fact.subject) + " | " + cell(fact.found) + " | " + constants +
            " |\n";
  }
  return text;
}

constexpr const char *kIntroduction =
    R"(<!-- Written by `ninja winnow-contract-docs` from dsl/contracts; edits are lost. -->
# Contracts

A contract is a table of limits on facts: what a set of kernels accepts. A description names one (`winnow.contract = "aiter_msa"`), and each lowering has its own. A check answers with every limit that is broken, with the value found and the value needed, or with nothing. A limit on a fact that is not known yet waits until it is: the runtime decides it.

**To add or change a limit, edit its row in `dsl/contracts/<contract>.json`**, then run `ninja winnow-contract-docs`. Nothing else changes: the compiler's pass `winnow-verify-contract`, the runtime's answer, the static assertions in generated kernels and this page are all made from that row. A new contract is a new file there.

| field of a limit | |
| --- | --- |
| `id` | its name, unique in the contract |
| `fact` or `product` | the fact that is limited, or two to four integer facts that are multiplied |
| `relation` | `equals`, `one_of` (a list), `at_most`, `at_least`, `between` (both ends are allowed), `multiple_of` (positive multiples) |
| `value` | a literal, a list of literals, or `{"fact": name}` |
| `when` | optional: facts and the values they must have for the limit to apply |
| `given` | optional: facts that the message shows beside the found value |
| `where` | optional: the fact whose place in a description is to blame; the limited one if absent |
| `subject`, `unit` | optional: what a person calls it and what its number counts; facts.json's if absent |
| `operations` | optional: the operations that the limit is about; all of them if absent |
| `reason` | why the limit exists |
| `static_assert` | optional: `false` keeps it out of generated kernels |

A message reads `contract 'aiter_msa', limit 'columns': index heads x query length is 3 x 6 = 18, needed at most 16 (the MFMA has 16 columns, one for each pair of token and head)`.
)";

} // namespace

std::string markdownTable(const Contract &contract) {
  std::string text =
      "| limit | operations | subject | needed | when | reason | "
      "asserted in kernels as |\n| --- | --- | --- | --- | --- "
      "| --- | --- |\n";
  for (const Limit &limit : contract.limits())
    text += "| " + code(limit.id) + " | " + aboutText(limit) + " | " +
            cell(limit.subject) + " | " + cell(neededText(limit)) + " | " +
            whenText(limit) + " | " + cell(limit.reason) + " | " +
            cell(assertedText(limit)) + " |\n";
  return text;
}

std::string referencePage() {
  std::string text = kIntroduction;
  for (const std::string &name : names()) {
    const Contract *contract = find(name);
    text += "\n## `" + name + "`: " + contract->title() + "\n\n" +
            contract->about() + "\n\n" + markdownTable(*contract);
  }
  text += "\n## Facts\n\nNamed and described in `dsl/contracts/facts.json`. "
          "Where a constant is given, generated kernels carry the fact in "
          "it.\n\n" +
          factsTable();
  return text;
}

} // namespace winnow::contract
