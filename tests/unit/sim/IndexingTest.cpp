// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers picked by M0, masks of quads, messages.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Indexing, VectorRegistersMoveByM0) {
  auto got = runLanes(R"(
  v_mov_b32 v10, 100
  v_mov_b32 v11, 101
  v_mov_b32 v12, 102
  v_mov_b32 v13, 103
  v_mov_b32 v41, 7
  v_mov_b32 v42, 8
  s_mov_b32 m0, 0xabcd0000
  s_mov_b32 s20, 0xf02
  s_set_gpr_idx_on s20, gpr_idx(SRC0)
  v_mov_b32 v40, v10                 // v12
  v_add_u32 v43, v11, v10            // v13 + v10
  s_set_gpr_idx_mode gpr_idx(DST)
  v_mov_b32 v40, v10                 // to v42
  s_set_gpr_idx_idx s21
  s_set_gpr_idx_off
  s_mov_b32 s22, m0
  v_mov_b32 v44, s22
  v_mov_b32 v45, v10
)",
                      {{0}}, 6)[0];
  // s21 holds poison: only its low byte comes to M0, whose other bits stay.
  EXPECT_THAT(std::vector<uint32_t>(got.begin(), got.begin() + 4),
              ElementsAre(102, 7, 100, 203));
  EXPECT_EQ(got[4] & 0xffffff00u, 0xabcd8000u);
  EXPECT_EQ(got[5], 100u);
  EXPECT_THAT(runLanesError("  s_mov_b32 s20, 130\n"
                            "  s_set_gpr_idx_on s20, gpr_idx(SRC0)\n"
                            "  v_mov_b32 v1, v2\n",
                            {{0}}),
              HasSubstr("M0 indexes v132, the kernel has 128"));
}

// Clang keeps this array in registers and picks an element by M0.
TEST(Indexing, ArraysInRegisters) {
  auto object = load(compileHip(R"(
    typedef float V __attribute__((ext_vector_type(16)));
    KERNEL k(const V *in, float *out, int i) {
      V v = in[TX];
      v[(i + 3) & 15] = 99;
      out[TX] = v[i & 15] + v[(i + 3) & 15];
    })"));
  Device device;
  std::vector<float> in(64 * 16);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = float(i);
  uint64_t from = upload(device, in, "in"),
           to = upload(device, std::vector<float>(64), "out");
  Arguments arguments;
  arguments.add(from).add(to).add(5);
  auto stats = device.launch(object, "k", {}, {64, 1, 1}, arguments.bytes);
  ASSERT_TRUE(stats) << stats.message();
  auto got = download<float>(device, to, 64);
  for (unsigned l = 0; l < 64; ++l)
    EXPECT_EQ(got[l], float(16 * l + 5) + 99);
}

TEST(Indexing, ScalarRegistersMoveByM0) {
  auto got = runLanes(R"(
  s_mov_b32 s20, 1
  s_mov_b32 s21, 2
  s_mov_b32 s22, 3
  s_mov_b32 s23, 4
  s_mov_b32 m0, 2
  s_movrels_b32 s30, s21
  s_movrels_b64 s[32:33], s[20:21]
  s_movreld_b32 s34, s20              // s36
  s_movreld_b64 s[38:39], s[20:21]    // s[40:41]
  v_mov_b32 v40, s30
  v_mov_b32 v41, s32
  v_mov_b32 v42, s33
  v_mov_b32 v43, s36
  v_mov_b32 v44, s40
  v_mov_b32 v45, s41
)",
                      {{0}}, 6)[0];
  EXPECT_THAT(got, ElementsAre(4, 3, 4, 1, 1, 2));
  EXPECT_THAT(
      runLanesError("  s_mov_b32 m0, 90\n  s_movrels_b32 s0, s20\n", {{0}}),
      HasSubstr("M0 = 90 moves it to register 110"));
}

TEST(Indexing, MasksOfQuads) {
  auto got = runLanes(R"(
  s_mov_b32 s20, 0x80010400
  s_mov_b32 s21, 0x00000010
  s_wqm_b32 s22, s20
  s_wqm_b64 s[24:25], s[20:21]
  s_quadmask_b32 s26, s20
  s_quadmask_b64 s[28:29], s[20:21]
  s_cselect_b32 s30, 1, 0
  s_bitreplicate_b64_b32 s[32:33], s20
  v_mov_b32 v40, s22
  v_mov_b32 v41, s24
  v_mov_b32 v42, s25
  v_mov_b32 v43, s26
  v_mov_b32 v44, s28
  v_mov_b32 v45, s29
  v_mov_b32 v46, s30
  v_mov_b32 v47, s32
  v_mov_b32 v48, s33
)",
                      {{0}}, 9)[0];
  // Quads 2, 4 and 7 of the low half, 1 of the high one.
  EXPECT_THAT(got, ElementsAre(0xf00f0f00u, 0xf00f0f00u, 0xf0u, 0x94u, 0x294u,
                               0u, 1u, 0x00300000u, 0xc0000003u));
}

TEST(Messages, InterruptsPassAndOthersStop) {
  EXPECT_EQ(
      runLanesError("  s_sendmsg sendmsg(MSG_INTERRUPT)\n  s_wakeup\n", {{0}}),
      "");
  EXPECT_THAT(runLanesError("  s_sendmsg sendmsg(MSG_GS_ALLOC_REQ)\n", {{0}}),
              HasSubstr("message 9 is not simulated"));
}

} // namespace
} // namespace winnow::sim::test
