// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Key caches past 4 GiB: the pages that a call names lie so far from the
// cache's first byte that 32 bits do not hold the distance. Only those pages
// exist, so any other address is a fault.
#include "RunDescription.h"

using namespace winnow;
using namespace winnow::test;

namespace {

/// Runs the call with every page number raised by `firstPage`, and the cache's
/// address lowered by as many pages.
void runWithPagesFrom(int64_t firstPage, tool::Call &call,
                      const Kernels &kernels) {
  const tool::Indexer &indexer = *call.indexer;
  auto table = call.arguments[indexer.indexTable].as<int32_t, 2>();
  const reference::Rows rows = call.rows();
  for (int64_t request = 0; request < rows.requests(); ++request)
    for (int64_t block = 0; block < rows.blocksSeen(request); ++block)
      table(request, block) += static_cast<int32_t>(firstPage);

  sim::Device device;
  std::vector<runtime::TensorView> views[2];
  std::vector<tool::HostTensor> *tensors[2] = {&call.arguments,
                                               &call.workspace};
  for (int group = 0; group < 2; ++group)
    for (tool::HostTensor &tensor : *tensors[group]) {
      auto address = device.alloc(tensor.bytes.size(), tensor.name);
      ASSERT_TRUE(address) << address.message();
      ASSERT_TRUE(device.write(*address, tensor.bytes));
      views[group].push_back(tensor.view);
      views[group].back().address = *address;
    }
  runtime::TensorView &keys = views[0][indexer.keys];
  const int64_t pageBytes = keys.strides[0] * runtime::byteWidth(keys.dtype);
  ASSERT_GT(firstPage * pageBytes, int64_t(1) << 32);
  keys.address -= static_cast<uint64_t>(firstPage * pageBytes);
  auto launches = runtime::resolveLaunches(*indexer.entry, call.symbols,
                                           views[0], views[1]);
  ASSERT_TRUE(launches) << launches.message();
  for (const runtime::ResolvedLaunch &launch : *launches) {
    auto stats = device.launch(
        kernels.codes.front().object, launch.kernel,
        {launch.grid[0], launch.grid[1], launch.grid[2]},
        {launch.block[0], launch.block[1], launch.block[2]}, launch.kernarg);
    ASSERT_TRUE(stats) << stats.message();
  }
  for (int group = 0; group < 2; ++group)
    for (size_t i = 0; i < tensors[group]->size(); ++i)
      if (int(i) != indexer.keys || group == 1)
        ASSERT_TRUE(
            device.read(views[group][i].address, (*tensors[group])[i].bytes));
  for (int64_t request = 0; request < rows.requests(); ++request)
    for (int64_t block = 0; block < rows.blocksSeen(request); ++block)
      table(request, block) -= static_cast<int32_t>(firstPage);
}

} // namespace

TEST(LargeCache, PagesPastFourGibibytes) {
  for (const char *dtype : {"f8E4M3FN", "bf16"})
    for (int64_t queryLen : {1, 0}) {
      Shape shape;
      shape.dtype = dtype;
      shape.queryLen = queryLen;
      SCOPED_TRACE(shape.text());
      std::shared_ptr<const Kernels> kernels = compile(shape);
      ASSERT_TRUE(kernels);
      tool::Lengths lengths({700, 129, 3000}, {});
      if (queryLen == 0)
        lengths.newTokens = {300, 1, 30};
      // Pages past 2^31 and 2^32 bytes, and the last numbers of 31 bits.
      for (int64_t firstPage : {int64_t(300000), (int64_t(1) << 31) - 1000}) {
        auto call = tool::randomCall(kernels->indexer, lengths, 1);
        ASSERT_TRUE(call) << call.message();
        const tool::Call before = *call;
        runWithPagesFrom(firstPage, *call, *kernels);
        Result<tool::Verdict> verdict = tool::verify(before, *call);
        ASSERT_TRUE(verdict) << verdict.message();
        EXPECT_TRUE(verdict->scores->ok()) << verdict->scores->text();
        EXPECT_TRUE(verdict->selection->ok()) << verdict->selection->text();
        EXPECT_TRUE(verdict->untouched.ok()) << verdict->untouched.text();
      }
    }
}
