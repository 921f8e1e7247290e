// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets of ragged rows that do not end with the batch: a captured graph has
// more rows than the requests of a replay, and a wrong caller may bring
// anything.
#include "RunDescription.h"

#include <algorithm>
#include <cstring>
#include <functional>

using namespace winnow;
using namespace winnow::test;

namespace {

/// A shape for each way to divide the two kernels among the lowerings.
std::vector<Shape> shapes() {
  Shape matrix;
  matrix.queryLen = 0;
  matrix.heads = 2;
  matrix.kvHeads = 4;
  matrix.blockSize = 32;
  matrix.pagesPerBlock = 2;
  matrix.maxSeqLen = 2000; // 63 blocks: a row of 64 scores has one to spare
  matrix.selectionPad = -1;
  matrix.pagePad = -1;
  Shape generic = matrix;
  generic.prefer = "generic";
  Shape genericSelect = matrix;
  genericSelect.keep = 100;
  Shape genericScore = matrix;
  genericScore.headDim = 40;
  genericScore.blockSize = 48;
  genericScore.pagesPerBlock = 3;
  return {matrix, generic, genericSelect, genericScore};
}

/// Tokens and new rows of each request.
tool::Lengths batch(std::vector<int32_t> tokens, std::vector<int32_t> rows) {
  return {std::move(tokens), std::move(rows)};
}

/// Cuts a tensor of one axis down to its first entries.
void cut(tool::HostTensor &tensor, int64_t entries) {
  tensor.view.extents[0] = entries;
  tensor.bytes.resize(entries * sizeof(int32_t));
}

/// Runs both kernels with the checks that stop on anything out of place.
void run(tool::Call &call, const Kernels &kernels) {
  tool::SimRun run;
  run.checks = sim::Checks::all(sim::CheckAction::Stop);
  auto records = tool::runOnSim(call, kernels.codes, run);
  ASSERT_TRUE(records) << records.message();
}

/// The last `padding` rows of the batch belong to no request. For the reference
/// there is one request more, without tokens, that has them.
void expectPadded(const Shape &shape, tool::Lengths lengths, int32_t padding) {
  SCOPED_TRACE(shape.text());
  std::shared_ptr<const Kernels> kernels = compile(shape);
  ASSERT_TRUE(kernels);
  const auto requests = static_cast<int64_t>(lengths.tokens.size());
  lengths.tokens.push_back(0);
  lengths.newTokens.push_back(padding);
  auto call = tool::randomCall(kernels->indexer, lengths, 1);
  ASSERT_TRUE(call) << call.message();
  tool::Call device = *call;
  cut(device.arguments[device.indexer->lens], requests);
  cut(device.arguments[device.indexer->cuSeqlens], requests + 1);
  run(device, *kernels);

  tool::Call after = *call;
  for (const int argument : {after.indexer->selection, after.indexer->pages,
                             after.indexer->contexts})
    after.arguments[argument].bytes = device.arguments[argument].bytes;
  after.workspace = device.workspace;
  Result<tool::Verdict> verdict = tool::verify(*call, after);
  ASSERT_TRUE(verdict) << verdict.message();
  EXPECT_TRUE(verdict->scores->ok()) << verdict->scores->text();
  EXPECT_TRUE(verdict->selection->ok()) << verdict->selection->text();
  EXPECT_TRUE(verdict->pages->ok()) << verdict->pages->text();
  EXPECT_TRUE(verdict->untouched.ok()) << verdict->untouched.text();
  // That the padding was looked at.
  const auto contexts =
      after.arguments[after.indexer->contexts].as<int32_t, 1>();
  for (int64_t i = 0; i < padding * shape.kvHeads; ++i)
    EXPECT_EQ(contexts(contexts.extents[0] - 1 - i), 0);
}

} // namespace

TEST(RaggedOffsets, RowsPastTheLastRequestArePadding) {
  for (const Shape &shape : shapes()) {
    expectPadded(shape, batch({700, 33, 0, 64}, {40, 1, 0, 2}), 21);
    expectPadded(shape, batch({1, 1999, 5}, {1, 1, 1}), 1);
    expectPadded(shape, batch({300, 20}, {0, 0}), 5); // no rows but padding
    expectPadded(shape, batch({48}, {48}), 200);      // tiles of padding alone
    expectPadded(shape, batch({0, 0, 0}, {3, 1, 4}), 4);
    expectPadded(shape, batch({}, {}), 9); // no requests
  }
}

// What is computed of offsets that are none is nobody's business; where it is
// written is. Accesses outside of an allocation end the launch.
TEST(RaggedOffsets, NothingIsWrittenOutsideTheRowsWhateverTheySay) {
  constexpr int32_t most = 2147483647, least = -2147483647 - 1;
  const std::vector<std::vector<int32_t>> offsets = {
      {0, 100, 200, 300},
      {0, 11, 13, most},
      {0, most, most, most},
      {least, -5, -1, 0},
      {-7, 4, 9, 11},
      {-1, -1, -1, -1},
      {11, 7, 3, 0},
      {0, most, least, 11},
      {0, least, most, least},
      {5, 6, 7, 11},
      {most, most, most, most},
      {least, most, least, most},
      {2147483000, 3, 2147483000, 3}};
  const std::vector<std::vector<int32_t>> lengths = {
      {700, 33, 64}, {most, most, most}, {least, -1, most}, {2001, 0, 100000}};
  for (const Shape &shape : shapes()) {
    SCOPED_TRACE(shape.text());
    std::shared_ptr<const Kernels> kernels = compile(shape);
    ASSERT_TRUE(kernels);
    const tool::Indexer &indexer = kernels->indexer;
    auto call =
        tool::randomCall(indexer, tool::Lengths({700, 33, 64}, {5, 2, 4}), 1);
    ASSERT_TRUE(call) << call.message();
    // A row may now see any block of the tables.
    const int64_t blocks =
        (shape.maxSeqLen + shape.blockSize - 1) / shape.blockSize;
    for (int argument : {indexer.indexTable, indexer.attnTable}) {
      auto table = call->arguments[argument].as<int32_t, 2>();
      for (int64_t request = 0; request < 3; ++request)
        for (int64_t block = 0; block < blocks; ++block)
          table(request, block) = static_cast<int32_t>(block % 3);
    }
    for (const std::vector<int32_t> &cu : offsets)
      for (const std::vector<int32_t> &lens : lengths) {
        SCOPED_TRACE("cu_seqlens " + testing::PrintToString(cu) +
                     ", seq_lens " + testing::PrintToString(lens));
        tool::Call hostile = *call;
        std::copy(cu.begin(), cu.end(),
                  hostile.arguments[indexer.cuSeqlens].as<int32_t, 1>().data);
        std::copy(lens.begin(), lens.end(),
                  hostile.arguments[indexer.lens].as<int32_t, 1>().data);
        run(hostile, *kernels);
        if (HasFatalFailure())
          return;
        // Entries of the score rows past the longest sequence's blocks.
        const auto scores = hostile.workspace[indexer.scores].as<uint32_t, 3>();
        for (int64_t head = 0; head < scores.extents[0]; ++head)
          for (int64_t row = 0; row < scores.extents[1]; ++row)
            for (int64_t b = blocks; b < scores.extents[2]; ++b)
              ASSERT_EQ(scores(head, row, b), 0x7f7f7f7fu)
                  << "row " << row << ", block " << b;
        // Every row has a selection, and one of blocks that exist.
        const auto selection = hostile.selection();
        for (int64_t head = 0; head < selection.extents[0]; ++head)
          for (int64_t row = 0; row < selection.extents[1]; ++row)
            for (int64_t slot = 0; slot < selection.extents[2]; ++slot) {
              ASSERT_GE(selection(head, row, slot), -1) << "row " << row;
              ASSERT_LT(selection(head, row, slot), blocks) << "row " << row;
            }
      }
  }
}
