// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a select kernel on given scores.
#include "SelectScores.h"

using namespace winnow;
using namespace winnow::test;

void test::expectSelected(const Shape &wanted,
                          const std::vector<int32_t> &lengths,
                          const ScoreOf &scoreOf, const char *what) {
  Shape shape = wanted;
  if (!shape.merges) // selecting has to be a launch of its own
    shape.launches = 2;
  SCOPED_TRACE(std::string(what) + "; " + shape.text());
  std::shared_ptr<const Kernels> kernels = compile(shape);
  ASSERT_TRUE(kernels);
  auto call = tool::randomCall(kernels->indexer, lengths, 1);
  ASSERT_TRUE(call) << call.message();
  tool::HostTensor &workspace = call->workspace[kernels->indexer.scores];
  auto scores = workspace.as<float, 3>();
  const reference::Rows rows = call->rows();
  for (int64_t head = 0; head < shape.heads; ++head)
    for (int64_t row = 0; row < rows.rows(); ++row)
      for (int64_t block = 0; block < rows.visibleBlocks(row); ++block)
        scores(head, row, block) = scoreOf(row + head * 1000, block);
  const std::vector<std::byte> given = workspace.bytes;

  Status status = selectOnSim(*call, *kernels);
  ASSERT_TRUE(status) << status.message();
  EXPECT_EQ(workspace.bytes, given) << "the scores were written to";
  const tool::Call &after = *call;
  reference::TopKOptions options = kernels->indexer.topk;
  auto ids = reference::compareTopK(
      rows, after.workspace[kernels->indexer.scores].as<float, 3>(), options,
      after.selection());
  EXPECT_TRUE(ids.ok()) << ids.text();
  EXPECT_GT(ids.checked, 0);
  auto pages = reference::comparePages(
      rows, after.selection(),
      after.arguments[kernels->indexer.attnTable].as<int32_t, 2>(),
      *kernels->indexer.remap,
      after.arguments[kernels->indexer.pages].as<int32_t, 2>(),
      after.arguments[kernels->indexer.contexts].as<int32_t, 1>());
  EXPECT_TRUE(pages.ok()) << pages.text();
}
