// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch path held against its readable twin: the same verdict, symbols,
// workspace and kernargs on random calls of random entries, good and bad.
#include "../runtime/Sample.h"
#include "Count.h"

#include "winnow/Runtime/PreparedLaunch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace winnow;
using namespace winnow::runtime;
using testing::HasSubstr;

namespace {

constexpr uint64_t kMemory = 0x7e0000000000;

class Dice {
public:
  explicit Dice(uint64_t seed) : engine(seed) {}
  int64_t upTo(int64_t most) {
    return static_cast<int64_t>(engine() % static_cast<uint64_t>(most + 1));
  }
  bool oneIn(int64_t n) { return upTo(n - 1) == 0; }
  int64_t number() {
    static constexpr int64_t interesting[] = {
        0,         1,         2,    3,         4,         16,
        128,       -1,        9000, INT32_MAX, INT64_MAX, INT64_MIN,
        1ll << 40, 1ll << 61, 257,  8192,      77};
    return interesting[upTo(std::size(interesting) - 1)];
  }

private:
  std::mt19937_64 engine;
};

Expression randomExpression(Dice &dice, int depth) {
  if (depth == 0 || dice.oneIn(3))
    return dice.oneIn(2)
               ? Expression(dice.oneIn(4) ? dice.number() : dice.upTo(9) + 1)
               : Expression(dice.oneIn(2) ? "requests" : "rows");
  return Expression(static_cast<Expression::Kind>(2 + dice.upTo(4)),
                    randomExpression(dice, depth - 1),
                    randomExpression(dice, depth - 1));
}

/// The sample's, with other formulas, layouts and bounds.
Entry randomEntry(Dice &dice) {
  Entry entry = sampleEntry();
  if (dice.oneIn(2))
    entry.workspace[0].shape[dice.upTo(2)] = randomExpression(dice, 3);
  if (dice.oneIn(3))
    entry.workspace.push_back(
        {"arrivals", DType::I32, {randomExpression(dice, 2)}});
  if (dice.oneIn(3))
    entry.launches[dice.upTo(1)].grid[dice.upTo(2)] = randomExpression(dice, 4);
  if (dice.oneIn(3))
    entry.arguments[4].shape[dice.upTo(2)] =
        Extent::atLeast(randomExpression(dice, 2));
  if (dice.oneIn(3))
    entry.arguments[0].layout = Layout::Rows;
  // Those of the sample's call, and others.
  if (dice.oneIn(4))
    entry.arguments[2].strides = {
        dice.oneIn(3) ? dice.number() & INT64_MAX : 9000, 1};
  if (dice.oneIn(4))
    entry.arguments[4].strides = {kAnyStride, dice.oneIn(3) ? 16 : 48, 1};
  if (dice.oneIn(3))
    entry.arguments[dice.upTo(4)].alignment = 1ll << dice.upTo(12);
  if (dice.oneIn(4))
    entry.maxRows = dice.upTo(6);
  if (dice.oneIn(4))
    entry.maxRequests = 1;
  if (dice.oneIn(4))
    entry.launches[0].arguments.push_back(
        {KernelArgument::Kind::Extent, "keys", 0});
  if (dice.oneIn(3))
    entry.steps = {{"rebase_table", {"index_table", "index_table"}, 2, 1}};
  return entry;
}

void spoil(Dice &dice, std::vector<TensorView> &tensors) {
  TensorView &tensor = tensors[dice.upTo(int64_t(tensors.size()) - 1)];
  const int64_t axis = dice.upTo(kMaxRank - 1);
  switch (dice.upTo(6)) {
  case 0:
    tensor.dtype = static_cast<DType>(dice.upTo(5));
    break;
  case 1:
    tensor.rank = static_cast<int>(dice.upTo(6)) - 1;
    break;
  case 2:
  case 3:
    tensor.extents[axis] = dice.number();
    break;
  case 4:
    tensor.strides[axis] = dice.number();
    break;
  case 5:
    tensor.address = dice.oneIn(2) ? 0 : 1ull << dice.upTo(20);
    break;
  default:
    if (dice.oneIn(2))
      tensors.pop_back();
    else
      tensors.push_back(tensor);
    break;
  }
}

std::vector<TensorView> randomCall(Dice &dice) {
  std::vector<TensorView> tensors = sampleArguments();
  const int64_t requests = dice.upTo(4);
  tensors[0].extents[0] = requests * 2;
  tensors[3].extents[0] = requests;
  tensors[2].extents[0] = requests + dice.upTo(2);
  tensors[4].extents[1] = requests * 2;
  for (int64_t i = dice.upTo(2); i > 0 && !tensors.empty(); --i)
    spoil(dice, tensors);
  return tensors;
}

/// What the readable twin answers: launches, or why not.
Result<std::vector<ResolvedLaunch>>
readable(const Entry &entry, const std::vector<TensorView> &tensors,
         std::vector<int64_t> &symbols) {
  Result<Symbols> bound = bindArguments(entry, tensors);
  if (!bound)
    return bound.takeError();
  for (const SymbolDefinition &symbol : entry.symbols)
    symbols.push_back(bound->at(symbol.name));
  Result<std::vector<TensorView>> workspace = workspaceTensors(entry, *bound);
  if (!workspace)
    return workspace.takeError();
  uint64_t next = kMemory;
  for (TensorView &tensor : *workspace) {
    Result<uint64_t> bytes = byteSpan(tensor);
    if (!bytes)
      return bytes.takeError();
    if (*bytes > uint64_t(1) << 56)
      return Error{"larger than any memory"};
    tensor.address = next;
    next += (*bytes + 255) / 256 * 256;
  }
  return resolveLaunches(entry, *bound, tensors, *workspace);
}

TEST(PreparedLaunch, SaysAndPacksWhatTheReadableTwinDoes) {
  int good = 0, bad = 0;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const Entry entry = randomEntry(dice);
    const std::vector<TensorView> tensors = randomCall(dice);
    std::vector<int64_t> symbols;
    auto wanted = readable(entry, tensors, symbols);
    auto prepared = PreparedLaunch::make(entry);
    ASSERT_TRUE(prepared) << prepared.message();
    PackBuffer buffer;
    const bool found = prepared->bind(tensors, buffer) &&
                       prepared->pack(tensors, kMemory, buffer);
    ASSERT_EQ(found, bool(wanted)) << (wanted ? "" : wanted.message());
    if (!found) {
      ++bad;
      if (!wanted.message().starts_with("larger"))
        ASSERT_EQ(prepared->whyNot(tensors, kMemory).message, wanted.message());
      continue;
    }
    ++good;
    for (size_t i = 0; i < symbols.size(); ++i)
      ASSERT_EQ(buffer.symbols[i], symbols[i]);
    ASSERT_EQ(buffer.launchCount, wanted->size());
    for (size_t i = 0; i < wanted->size(); ++i) {
      const ResolvedLaunch &launch = (*wanted)[i];
      const PackedLaunch &packed = buffer.launches[i];
      EXPECT_EQ(entry.launches[packed.index].kernel, launch.kernel);
      for (int axis = 0; axis < 3; ++axis)
        ASSERT_EQ(packed.grid[axis], launch.grid[axis]);
      ASSERT_EQ(packed.kernargBytes, launch.kernarg.size());
      ASSERT_EQ(std::memcmp(packed.kernarg, launch.kernarg.data(),
                            packed.kernargBytes),
                0);
    }
  }
  // Either kind has to be common for the comparison to mean anything.
  EXPECT_GT(good, 2000);
  EXPECT_GT(bad, 2000);
}

TEST(PreparedLaunch, PacksWithoutAllocationOrLock) {
  auto prepared = PreparedLaunch::make(sampleEntry());
  ASSERT_TRUE(prepared);
  const std::vector<TensorView> tensors = sampleArguments();
  PackBuffer buffer;
  const uint64_t allocations = test::allocationsOfThisThread();
  const uint64_t locks = test::locksOfThisThread();
  bool fine = true;
  for (int i = 0; i < 1000; ++i)
    fine &= prepared->bind(tensors, buffer) &&
            prepared->pack(tensors, kMemory, buffer);
  EXPECT_EQ(test::allocationsOfThisThread(), allocations);
  EXPECT_EQ(test::locksOfThisThread(), locks);
  EXPECT_TRUE(fine);
  EXPECT_EQ(buffer.launchCount, 2u);
}

TEST(PreparedLaunch, KnowsTheWorkspaceOfTheLargestCall) {
  auto prepared = PreparedLaunch::make(sampleEntry());
  ASSERT_TRUE(prepared);
  // score: [1, 2 * requests, 8192] f32.
  auto bytes = prepared->workspaceBytes({256, 0});
  ASSERT_TRUE(bytes);
  EXPECT_EQ(*bytes, 512u * 8192 * 4);
  PackBuffer buffer;
  ASSERT_TRUE(prepared->bind(sampleArguments(), buffer));
  EXPECT_EQ(buffer.workspaceBytes, 4u * 8192 * 4);
}

TEST(PreparedLaunch, RefusesWhatABufferCannotHold) {
  Entry entry = sampleEntry();
  entry.launches.resize(33, entry.launches.front());
  auto prepared = PreparedLaunch::make(entry);
  ASSERT_FALSE(prepared);
  EXPECT_THAT(
      prepared.message(),
      HasSubstr("'m3_decode' has 33 launches, a plan holds at most 32"));
}

TEST(PreparedLaunch, NamesAMisplacedWorkspace) {
  auto prepared = PreparedLaunch::make(sampleEntry());
  ASSERT_TRUE(prepared);
  const std::vector<TensorView> tensors = sampleArguments();
  PackBuffer buffer;
  ASSERT_TRUE(prepared->bind(tensors, buffer));
  EXPECT_FALSE(prepared->pack(tensors, 0, buffer));
  EXPECT_THAT(
      prepared->whyNot(tensors, 0).message,
      HasSubstr("workspace 'score': address 0, wanted one that is not"));
  EXPECT_FALSE(prepared->pack(tensors, kMemory + 16, buffer));
  EXPECT_THAT(prepared->whyNot(tensors, kMemory + 16).message,
              HasSubstr("16 bytes past a multiple of 256"));
}

} // namespace
