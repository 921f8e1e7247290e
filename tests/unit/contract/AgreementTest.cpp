// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The evaluator and the static assertions cannot disagree: for every limit of
// every contract, kernels' constants are written from facts that meet it and
// from facts that break it, and a real compiler has to refuse exactly what the
// evaluator refuses, in the same words.
#include "Assignments.h"

#include "winnow/Contract/Evaluate.h"
#include "winnow/Contract/Render.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <unistd.h>

using namespace winnow;
using namespace winnow::contract;

namespace {

/// One device struct of constants as a generated kernel declares it.
std::string constants(const std::string &deviceStruct, const Facts &facts) {
  std::string text = "struct " + deviceStruct + " {\n";
  for (const FactInfo &fact : vocabulary())
    for (const auto &[name, constant] : fact.constants)
      if (name == deviceStruct)
        text +=
            "  static constexpr long long " + constant + " = " +
            (facts.count(fact.name) ? valueText(facts.at(fact.name)) : "1") +
            ";\n";
  return text + "};\n";
}

enum class Side { Met, OnEdge, Broken };

struct Case {
  std::string name; // contract.limit.number
  const Contract *contract;
  const Limit *limit;
  Side kind;
  Facts facts;
};

/// Every limit of every contract: met, on each edge, broken in every way.
std::vector<Case> allCases() {
  std::vector<Case> result;
  for (const std::string &name : names()) {
    const Contract &contract = *find(name);
    for (const Limit &limit : contract.limits()) {
      int number = 0;
      auto add = [&](Side kind, const std::vector<Facts> &all) {
        for (const Facts &facts : all)
          result.push_back(
              {name + "." + limit.id + "." + std::to_string(number++),
               &contract, &limit, kind, withDerived(facts)});
      };
      add(Side::Met, {test::meeting(contract, limit)});
      add(Side::OnEdge, test::onEdge(contract, limit));
      add(Side::Broken, test::breaking(contract, limit));
    }
  }
  return result;
}

/// Compiles all cases at once, each in a namespace of its own under its name
/// as file name; returns each case's error texts.
std::map<std::string, std::set<std::string>>
compile(const std::vector<Case> &all) {
  std::string path = testing::TempDir() + "contract_agreement_" +
                     std::to_string(getpid()) + ".cpp";
  std::ofstream out(path);
  for (size_t i = 0; i < all.size(); ++i) {
    out << "namespace case" << i << " {\n";
    for (const std::string &name : deviceStructs())
      out << constants(name, all[i].facts);
    out << "#line 1 \"" << all[i].name << "\"\n";
    for (const std::string &line :
         staticAssertions(*all[i].contract, all[i].facts))
      out << line << "\n";
    out << "}\n";
  }
  out.close();
  std::string command = WINNOW_CLANG
                        " -x c++ -std=c++17 -fsyntax-only -ferror-limit=0 "
                        "-fno-caret-diagnostics -fno-color-diagnostics '" +
                        path + "' 2>&1";
  std::map<std::string, std::set<std::string>> errors;
  // The compiler's path is the build's own and the file's name this test's.
  // NOLINTNEXTLINE(bugprone-command-processor)
  std::FILE *pipe = popen(command.c_str(), "r");
  if (!pipe) {
    ADD_FAILURE() << "cannot run " << command;
    return errors;
  }
  std::string output;
  char buffer[4096];
  while (size_t got = std::fread(buffer, 1, sizeof buffer, pipe))
    output.append(buffer, got);
  pclose(pipe); // fails if anything is refused, as it should
  std::remove(path.c_str());

  // case:1:15: error: static assertion failed due to requirement '...': TEXT
  size_t at = 0;
  while (at < output.size()) {
    size_t end = std::min(output.find('\n', at), output.size());
    std::string line = output.substr(at, end - at);
    at = end + 1;
    size_t error = line.find(": error: ");
    if (error == std::string::npos)
      continue;
    size_t text = line.find("contract '");
    errors[line.substr(0, line.find(':'))].insert(
        text == std::string::npos ? line : line.substr(text));
  }
  return errors;
}

bool canBeAsserted(const Limit &limit) {
  for (const std::string &name : deviceStructs())
    if (condition(limit, name))
      return true;
  return false;
}

TEST(Agreement, TheCompilerRefusesWhatTheEvaluatorRefusesInItsWords) {
  std::vector<Case> all = allCases();
  auto errors = compile(all);
  size_t refused = 0;
  for (const Case &each : all) {
    std::set<std::string> expected;
    bool broken = false;
    for (const Violation &violation :
         evaluate(*each.contract, each.facts).violations) {
      EXPECT_NE(each.kind, Side::Met) << each.name << violation.message();
      broken |= violation.limit == each.limit->id;
      if (canBeAsserted(*each.contract->find(violation.limit)))
        expected.insert(violation.message());
    }
    EXPECT_EQ(broken, each.kind == Side::Broken)
        << each.name << " " << factsToJson(each.facts);
    EXPECT_EQ(errors[each.name], expected)
        << each.name << " " << factsToJson(each.facts);
    refused += expected.size();
  }
  EXPECT_GT(refused, all.size() / 5);
}

TEST(Agreement, EveryIntegerLimitWithConstantsIsAsserted) {
  for (const Case &each : allCases()) {
    if (each.kind != Side::Met)
      continue;
    std::string all;
    for (const std::string &line : staticAssertions(*each.contract, each.facts))
      all += line;
    EXPECT_EQ(all.find("limit '" + each.limit->id + "'") != std::string::npos,
              canBeAsserted(*each.limit))
        << each.name;
  }
}

} // namespace
