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

} // namespace
} // namespace winnow::sim::test
