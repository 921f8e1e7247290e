// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The documentation's list of instructions is what the simulator has.
#include "winnow/Sim/Instructions.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace winnow::sim::test {
namespace {

TEST(Instructions, PageIsCurrent) {
  std::ifstream in(WINNOW_TEST_DOCS "/simulator-instructions.md");
  std::string page{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(page, instructionTable())
      << "winnow sim --instructions > docs/simulator-instructions.md";
}

// Every row of the tables is one of the instructions that LLVM decodes, so that
// neither a slip of the pen nor a gap in the search for them goes unseen.
TEST(Instructions, TablesHoldInstructionsOfGfx950Alone) {
  std::set<std::string> all = instructionSet();
  EXPECT_GT(all.size(), 1200u);
  for (const std::string &name : simulatedInstructions())
    EXPECT_TRUE(all.contains(name)) << name;
}

} // namespace
} // namespace winnow::sim::test
