// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A MiniMax-M3 decode call through the C interface, small enough to know its
// result: the queries are ones, and a page's keys are all one number.
#ifndef WINNOW_TESTS_UNIT_CAPI_DECODE_H
#define WINNOW_TESTS_UNIT_CAPI_DECODE_H

#include "winnow.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace winnow::test {

/// One decode of `requests` requests, each of four blocks.
class DecodeCall {
public:
  static constexpr int64_t kBlocks = 4, kPages = 6, kWidth = 8192, kKeep = 16;

  DecodeCall(winnow_device *device, void *stream, int64_t requests)
      : device(device), stream(stream), requests(requests) {
    // fp8 e4m3: 0x38 is 1, and more is more.
    std::vector<uint8_t> q(requests * 128, 0x38), keys(kPages * 128 * 128);
    for (int64_t page = 0; page < kPages; ++page)
      std::memset(keys.data() + page * 128 * 128, 0x20 + int(page), 128 * 128);
    // Logical blocks 0, 1, 2, 3 lie in pages 2, 5, 1, 4; the attention has
    // its own numbers.
    std::vector<int32_t> table(requests * kWidth, -1), attention = table;
    std::vector<int32_t> lens(requests, 128 * 3 + 60);
    for (int64_t r = 0; r < requests; ++r)
      for (int64_t b = 0; b < kBlocks; ++b) {
        table[r * kWidth + b] = kPageOf[b];
        attention[r * kWidth + b] = int32_t(10 * r + b);
      }
    add("query", WINNOW_F8E4M3FN, {requests, 1, 128}, q.data(), q.size());
    add("keys", WINNOW_F8E4M3FN, {kPages, 128, 128}, keys.data(), keys.size());
    add("index_table", WINNOW_I32, {requests, kWidth}, table.data(),
        table.size() * 4);
    add("attn_table", WINNOW_I32, {requests, kWidth}, attention.data(),
        attention.size() * 4);
    add("seq_lens", WINNOW_I32, {requests}, lens.data(), lens.size() * 4);
    clear();
    add("selection", WINNOW_I32, {1, requests, kKeep}, untouched.data(),
        requests * kKeep * 4);
    add("pages", WINNOW_I32, {requests, 128}, untouched.data(),
        requests * 128 * 4);
    add("ctx", WINNOW_I32, {requests}, untouched.data(), requests * 4);
  }
  ~DecodeCall() {
    for (void *each : memory)
      EXPECT_EQ(winnow_memory_free(device, each), WINNOW_OK);
  }
  DecodeCall(const DecodeCall &) = delete;

  winnow_status launch(const winnow_plan *plan) {
    uint64_t bytes = 0;
    EXPECT_EQ(winnow_plan_workspace_bytes(plan, &bytes), WINNOW_OK)
        << winnow_last_error();
    if (!workspace && bytes != 0) {
      EXPECT_EQ(winnow_memory_allocate(device, bytes, &workspace), WINNOW_OK)
          << winnow_last_error();
      memory.push_back(workspace);
      workspaceBytes = bytes;
    }
    options.stream = stream;
    options.tensors = tensors.data();
    options.tensor_count = tensors.size();
    options.workspace = workspace;
    options.workspace_bytes = workspaceBytes;
    return winnow_launch(plan, &options);
  }

  std::vector<int32_t> output(const char *name, size_t count) {
    std::vector<int32_t> values(count);
    for (const winnow_tensor &tensor : tensors)
      if (std::string(tensor.name) == name)
        EXPECT_EQ(winnow_memory_copy(device, values.data(), tensor.data,
                                     count * 4, WINNOW_FROM_DEVICE, stream),
                  WINNOW_OK)
            << winnow_last_error();
    return values;
  }

  /// The last block is forced; the others by their pages' keys.
  void expectRight() {
    const std::vector<int32_t> kept = output("selection", requests * kKeep);
    const std::vector<int32_t> pages = output("pages", requests * 128);
    const std::vector<int32_t> contexts = output("ctx", requests);
    const int32_t order[] = {3, 1, 0, 2}, packed[] = {1, 0, 2, 3};
    for (int64_t r = 0; r < requests; ++r) {
      for (int64_t i = 0; i < kKeep; ++i)
        ASSERT_EQ(kept[r * kKeep + i], i < kBlocks ? order[i] : -1)
            << "request " << r << ", place " << i;
      // A kept block is eight pages of the attention's cache; the row's last
      // block comes last, whatever its rank.
      for (int64_t i = 0; i < kBlocks * 8; ++i)
        ASSERT_EQ(pages[r * 128 + i], (10 * r + packed[i / 8]) * 8 + i % 8)
            << "request " << r << ", page " << i;
      ASSERT_EQ(contexts[r], 128 * 3 + 60);
    }
  }
  void expectUntouched() {
    for (const auto &[name, count] :
         {std::pair("selection", requests * kKeep),
          std::pair("pages", requests * 128), std::pair("ctx", requests)})
      for (const int32_t value : output(name, size_t(count)))
        ASSERT_EQ(value, kUntouched) << name;
  }

  winnow_tensor &operator[](const std::string &name) {
    for (winnow_tensor &tensor : tensors)
      if (name == tensor.name)
        return tensor;
    ADD_FAILURE() << "no tensor " << name;
    return tensors.front();
  }

  std::vector<winnow_tensor> tensors;
  winnow_launch_options options = WINNOW_LAUNCH_OPTIONS_INIT;
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
  static constexpr int32_t kUntouched = 0x5a5a5a5a;
  static constexpr int32_t kPageOf[kBlocks] = {2, 5, 1, 4};

private:
  void clear() { untouched.assign(size_t(requests) * 128 + 16, kUntouched); }
  void add(const char *name, winnow_dtype dtype, std::vector<int64_t> shape,
           const void *from, size_t bytes) {
    void *to = nullptr;
    ASSERT_EQ(winnow_memory_allocate(device, bytes, &to), WINNOW_OK)
        << winnow_last_error();
    ASSERT_EQ(
        winnow_memory_copy(device, to, from, bytes, WINNOW_TO_DEVICE, stream),
        WINNOW_OK)
        << winnow_last_error();
    memory.push_back(to);
    shapes.push_back(std::make_unique<std::vector<int64_t>>(std::move(shape)));
    tensors.push_back({name, to, dtype, int32_t(shapes.back()->size()),
                       shapes.back()->data(), nullptr});
  }

  winnow_device *device;
  void *stream;
  int64_t requests;
  std::vector<void *> memory;
  std::vector<std::unique_ptr<std::vector<int64_t>>> shapes;
  std::vector<int32_t> untouched;
};

} // namespace winnow::test

#endif // WINNOW_TESTS_UNIT_CAPI_DECODE_H
