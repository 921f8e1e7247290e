// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime is what a server loads: neither LLVM nor ROCm may come with it.
#include "winnow/Runtime/Files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::HasSubstr;
using testing::Not;

namespace {

TEST(Layering, NeitherLLVMNorRocmIsLoadedWithTheRuntime) {
  // This test links all of WinnowRuntime; what that pulls in is mapped here.
  Result<std::vector<std::byte>> bytes = readFile("/proc/self/maps", 1 << 24);
  ASSERT_TRUE(bytes) << bytes.message();
  const std::string maps(reinterpret_cast<const char *>(bytes->data()),
                         bytes->size());
  ASSERT_THAT(maps, HasSubstr("libc.so"));
  for (const char *library : {"libLLVM", "libMLIR", "libclang", "libamdhip64",
                              "libhiprtc", "libcuda"})
    EXPECT_THAT(maps, Not(HasSubstr(library)));
}

} // namespace
