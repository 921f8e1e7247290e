// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Float atomics, exchanges and counters in LDS, and transposing loads, whose
// elements are checked one by one.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// v1.. hold the columns; v30 the address of the lane's 16 bytes, which begin
/// with v1 and v2.
std::string withLds(const std::string &body) {
  return "  v_lshlrev_b32 v30, 4, v122\n"
         "  ds_write2_b32 v30, v1, v2 offset1:1\n"
         "  s_waitcnt lgkmcnt(0)\n" +
         body +
         "  s_waitcnt lgkmcnt(0)\n"
         "  ds_read2_b32 v[46:47], v30 offset1:1\n"
         "  s_waitcnt lgkmcnt(0)\n";
}

TEST(LdsExchange, MasksWrapsAndTwoPlaces) {
  auto got = runLanes(withLds(R"(
  ds_mskor_rtn_b32 v40, v30, v3, v4
  ds_wrap_rtn_b32 v41, v30, v5, v4 offset:4
)"),
                      {{0xffff0000, 10, 0x0ff00000, 0x1234, 7},
                       {0xffff0000, 6, 0xffffffff, 0x1234, 7}},
                      8);
  EXPECT_EQ(got[0][0], 0xffff0000u);
  EXPECT_EQ(got[0][6], 0xf00f1234u);
  EXPECT_EQ(got[1][6], 0x1234u);
  EXPECT_EQ(got[0][1], 10u);
  EXPECT_EQ(got[0][7], 3u);           // 10 >= 7
  EXPECT_EQ(got[1][7], 6u + 0x1234u); // 6 < 7
  got = runLanes(withLds("  ds_wrxchg2_rtn_b32 v[40:41], v30, v3, v4 offset0:1 "
                         "offset1:0\n"),
                 {{11, 22, 33, 44}}, 8);
  EXPECT_THAT(got[0], ElementsAre(22, 11, ::testing::_, ::testing::_,
                                  ::testing::_, ::testing::_, 44, 33));
  // Only dwords whose top bit is set are exchanged, without it.
  got = runLanes(withLds("  v_mov_b32 v10, v3\n  v_mov_b32 v11, v4\n"
                         "  ds_condxchg32_rtn_b64 v[40:41], v30, v[10:11]\n"),
                 {{11, 22, 0x80000005, 0x7fffffff}}, 8);
  EXPECT_THAT(got[0], ElementsAre(11, 22, ::testing::_, ::testing::_,
                                  ::testing::_, ::testing::_, 5, 22));
}

TEST(LdsExchange, Floats) {
  // Sums, minima and maxima: quiet NaN loses, -0 is below +0.
  auto got = runLanes(withLds(R"(
  ds_add_rtn_f32 v40, v30, v3
  ds_max_rtn_f32 v41, v30, v4 offset:4
)"),
                      {{bitsOf(1.5f), 0x80000000, bitsOf(2), 0},
                       {bitsOf(-1), 0x7fc00000, bitsOf(1), bitsOf(3)}},
                      8);
  EXPECT_EQ(got[0][0], bitsOf(1.5f));
  EXPECT_EQ(got[0][6], bitsOf(3.5f));
  EXPECT_EQ(got[1][6], 0u);
  EXPECT_EQ(got[0][7], 0u);
  EXPECT_EQ(got[1][7], bitsOf(3));
  // Packed: 1 + 2 and 0.5 + 0.25 in f16, then in bf16.
  got = runLanes(withLds(R"(
  ds_pk_add_f16 v30, v3
  ds_pk_add_rtn_bf16 v40, v30, v4 offset:4
)"),
                 {{0x38003c00, 0x3f003f80, 0x34004000, 0x3e804000}}, 8);
  EXPECT_EQ(got[0][6], 0x3a004200u);
  EXPECT_EQ(got[0][0], 0x3f003f80u);
  EXPECT_EQ(got[0][7], 0x3f404040u);
  // -0 equals +0, NaN nothing.
  got = runLanes(withLds(R"(
  ds_cmpst_rtn_f32 v40, v30, v3, v5
  ds_cmpst_f32 v30, v4, v5 offset:4
)"),
                 {{0x80000000, 0x7fc00000, 0, 0x7fc00000, 77}}, 8);
  EXPECT_EQ(got[0][0], 0x80000000u);
  EXPECT_EQ(got[0][6], 77u);
  EXPECT_EQ(got[0][7], 0x7fc00000u);
}

TEST(LdsExchange, DenormalsFollowMode) {
  // Smallest denormal and itself; MODE flushes f32's after the first.
  auto got = runLanes(withLds("  ds_add_f32 v30, v1\n"
                              "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), "
                              "0\n"
                              "  ds_add_f32 v30, v2 offset:4\n"
                              "  ds_max_f32 v30, v3 offset:4\n"),
                      {{1, 1, 0x80000000}}, 8);
  EXPECT_EQ(got[0][6], 2u);
  EXPECT_EQ(got[0][7], 0u);
}

TEST(LdsExchange, CountsAndAddressesByLane) {
  auto got = runLanes(R"(
  v_mov_b32 v30, 0
  v_mov_b32 v31, 100
  ds_write_b32 v30, v31 offset:20
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 7
  ds_append v40 offset:20
  ds_consume v41 offset:20
  s_mov_b64 exec, 1
  ds_consume v42 offset:20
  s_mov_b64 exec, -1
  s_waitcnt lgkmcnt(0)
  s_mov_b32 m0, 256
  v_add_u32 v1, 500, v122
  ds_write_addtid_b32 v1 offset:64
  s_waitcnt lgkmcnt(0)
  v_lshlrev_b32 v2, 2, v122
  ds_read_b32 v43, v2 offset:320
  s_mov_b32 m0, 260
  ds_read_addtid_b32 v44 offset:60
  s_waitcnt lgkmcnt(0)
)",
                      {{0}, {0}, {0}}, 5);
  for (unsigned l = 0; l < 3; ++l) {
    EXPECT_EQ(got[l][0], 100u);
    EXPECT_EQ(got[l][1], 103u);
    EXPECT_EQ(got[l][3], 500 + l);
    EXPECT_EQ(got[l][4], 500 + l);
  }
  EXPECT_EQ(got[0][2], 100u);
}

/// A transposing load of elements of `bits` bits. LDS holds, for each group of
/// 16 lanes, a matrix of `rows` rows and 16 columns, row by row; lane l of a
/// group is to get column l, row r in bits r * bits.
void checkTransposing(const char *name, unsigned bits, unsigned rows) {
  unsigned bytes = rows * bits / 8, stride = bytes == 12 ? 16 : bytes;
  unsigned dwords = bytes / 4;
  auto value = [&](unsigned group, unsigned row, unsigned column) {
    uint32_t v = group * 977 + row * 131 + column * 29 + 3;
    return (v ^ v >> 4) & ((1u << bits) - 1);
  };
  // The row-major elements of a group, `rows` of them a lane.
  std::vector<uint32_t> in(64 * 4, 0);
  unsigned perRow = 16 / rows;
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned e = 0; e < rows; ++e) {
      unsigned row = lane % 16 / perRow, column = lane % 16 % perRow * rows + e;
      uint64_t v = uint64_t(value(lane / 16, row, column)) << (e * bits % 32);
      unsigned d = e * bits / 32;
      in[d * 64 + lane] |= uint32_t(v);
      if (v >> 32)
        in[(d + 1) * 64 + lane] |= uint32_t(v >> 32);
    }
  std::string body = loadInputs(1, dwords);
  body += "  v_mul_u32_u24 v30, " + std::to_string(stride) + ", v122\n";
  for (unsigned d = 0; d < dwords; ++d)
    body += "  ds_write_b32 v30, v" + std::to_string(1 + d) +
            " offset:" + std::to_string(4 * d) + "\n";
  body += "  s_waitcnt lgkmcnt(0)\n  " + std::string(name) +
          " v[40:" + std::to_string(39 + dwords) +
          "], v30\n  s_waitcnt lgkmcnt(0)\n" + storeOutputs(40, dwords);
  auto out = runWave(body, in, dwords * 64);
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned row = 0; row < rows; ++row) {
      unsigned at = row * bits, d = at / 32;
      uint64_t window = out[d * 64 + lane];
      if (d + 1 < dwords)
        window |= uint64_t(out[(d + 1) * 64 + lane]) << 32;
      ASSERT_EQ(window >> (at % 32) & ((1u << bits) - 1),
                value(lane / 16, row, lane % 16))
          << name << " lane " << lane << " row " << row;
    }
}

TEST(LdsTransposing, EveryElement) {
  checkTransposing("ds_read_b64_tr_b16", 16, 4);
  checkTransposing("ds_read_b64_tr_b8", 8, 8);
  checkTransposing("ds_read_b64_tr_b4", 4, 16);
  checkTransposing("ds_read_b96_tr_b6", 6, 16);
}

TEST(LdsTransposing, NeedsEveryLaneAndAlignment) {
  EXPECT_THAT(runWaveError("  v_lshlrev_b32 v1, 3, v122\n  s_mov_b64 exec, 1\n"
                           "  ds_read_b64_tr_b8 v[2:3], v1\n",
                           {0}, 64),
              HasSubstr("with inactive lanes"));
  EXPECT_THAT(runWaveError("  v_lshlrev_b32 v1, 3, v122\n"
                           "  ds_read_b64_tr_b16 v[2:3], v1 offset:4\n",
                           {0}, 64),
              HasSubstr("not a multiple of 8"));
}

} // namespace
} // namespace winnow::sim::test
