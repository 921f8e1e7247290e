// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a report tells of a bundle, whoever wrote that.
#include "Report.h"
#include "Support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow;
using namespace winnow::tool;
using testing::HasSubstr;
using testing::Not;

namespace {

TEST(Report, TextOfABundleStaysOnItsLineAndGivesNoOrders) {
  Small small;
  small.entry().schedules = {
      {small.entry().launches[0].kernel,
       {{"waves", 8}},
       {{"waves", "tuned\x1b[1A\x1b[2K\ncheck      matches the reference"}}}};
  small.describe();
  const Call call = small.call({5});
  RunReport report(small.bundle, call);
  report.file = "small.winnow";
  report.device = "host";
  runtime::ContractAnswer broken;
  broken.contract = "winnow_mfma";
  contract::Violation violation;
  violation.contract = "winnow\x1b[2J\n";
  broken.report.violations = {violation};
  report.contracts = {broken};

  const std::string text = textReport(report);
  EXPECT_THAT(text, HasSubstr("waves 8 (tuned\\x1b[1A\\x1b[2K\\ncheck      "
                              "matches the reference)"));
  EXPECT_THAT(text, HasSubstr("'winnow\\x1b[2J\\n'"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(jsonReport(report), HasSubstr("tuned\\u001b[1A"));
}

} // namespace
