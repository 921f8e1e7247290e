// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DPP, SDWA, lane reads and writes, lane swaps, EXEC.
#include "TestKernels.h"

#include <functional>
#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

std::vector<uint32_t> ramp(size_t count, uint32_t start = 100) {
  std::vector<uint32_t> v(count);
  for (size_t i = 0; i < count; ++i)
    v[i] = start + uint32_t(i);
  return v;
}

struct DppCase {
  const char *control;
  /// Source lane, or -1.
  std::function<int(int)> from;
};

TEST(CrossLane, DppControls) {
  const DppCase cases[] = {
      {"quad_perm:[1,3,0,2]",
       [](int l) { return (l & ~3) + std::array{1, 3, 0, 2}[l & 3]; }},
      {"row_shl:3", [](int l) { return l % 16 < 13 ? l + 3 : -1; }},
      {"row_shr:5", [](int l) { return l % 16 >= 5 ? l - 5 : -1; }},
      {"row_ror:4", [](int l) { return (l & ~15) + ((l + 12) & 15); }},
      {"wave_shl:1", [](int l) { return l < 63 ? l + 1 : -1; }},
      {"wave_shr:1", [](int l) { return l - 1; }},
      {"wave_rol:1", [](int l) { return (l + 1) % 64; }},
      {"wave_ror:1", [](int l) { return (l + 63) % 64; }},
      {"row_mirror", [](int l) { return (l & ~15) + 15 - (l & 15); }},
      {"row_half_mirror", [](int l) { return (l & ~7) + 7 - (l & 7); }},
      {"row_bcast:15", [](int l) { return l >= 16 ? (l & ~15) - 1 : -1; }},
      {"row_bcast:31", [](int l) { return l >= 32 ? 31 : -1; }},
      {"row_newbcast:6", [](int l) { return (l & ~15) + 6; }}};
  auto in = ramp(64);
  for (const DppCase &c : cases) {
    std::string body =
        loadInputs(1, 1) + R"(
  v_mov_b32 v20, 7
  v_mov_b32 v21, 7
  v_mov_b32 v22, 7
  s_nop 4
  v_mov_b32_dpp v20, v1 )" +
        c.control + " row_mask:0xf bank_mask:0xf\n  v_mov_b32_dpp v21, v1 " +
        c.control +
        " row_mask:0xf bank_mask:0xf bound_ctrl:1\n  "
        "v_add_u32_dpp v22, v1, v1 " +
        c.control + " row_mask:0x5 bank_mask:0x3\n" + storeOutputs(20, 3);
    auto out = runWave(body, in, 3 * 64);
    for (int l = 0; l < 64; ++l) {
      int from = c.from(l);
      EXPECT_EQ(out[l], from >= 0 ? in[from] : 7u) << c.control << l;
      EXPECT_EQ(out[64 + l], from >= 0 ? in[from] : 0u) << c.control << l;
      bool masked = (l / 16) & 1 || l % 16 / 4 > 1;
      EXPECT_EQ(out[128 + l], from >= 0 && !masked ? in[from] + in[l] : 7u)
          << c.control << l;
    }
  }
}

// A source lane that EXEC disables is as good as none.
TEST(CrossLane, DppFromInactiveLanes) {
  auto in = ramp(64);
  std::string body = loadInputs(1, 1) + R"(
  v_mov_b32 v20, 7
  v_mov_b32 v21, 7
  s_mov_b32 exec_lo, 0x55555555
  s_mov_b32 exec_hi, 0x55555555
  v_mov_b32_dpp v20, v1 row_shr:1 row_mask:0xf bank_mask:0xf
  v_mov_b32_dpp v21, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
  s_mov_b64 exec, -1
)" + storeOutputs(20, 2);
  auto out = runWave(body, in, 128);
  for (int l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], 7u);
    EXPECT_EQ(out[64 + l], l % 2 ? 7u : 0u);
  }
}

TEST(CrossLane, Sdwa) {
  std::vector<uint32_t> in(128);
  for (unsigned l = 0; l < 64; ++l) {
    in[l] = 0x8091a2b3u + l;
    in[64 + l] = 0x01f2e3d4u + 3 * l;
  }
  std::string body = loadInputs(1, 2) + R"(
  v_mov_b32 v22, 0x55667788
  v_mov_b32 v23, 0x55667788
  v_add_u32_sdwa v20, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1
  v_add_u32_sdwa v21, sext(v1), v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:BYTE_0
  v_and_b32_sdwa v22, v1, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 src1_sel:BYTE_0
  v_or_b32_sdwa v23, v1, v2 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:WORD_1 src1_sel:BYTE_3
  v_cmp_lt_u32_sdwa vcc, v1, v2 src0_sel:BYTE_0 src1_sel:BYTE_0
  v_cndmask_b32 v24, 0, 1, vcc
  s_movk_i32 s20, 2
  v_lshlrev_b32_sdwa v25, s20, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_2
  v_mul_u32_u24_sdwa v26, v1, s20 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 src1_sel:DWORD
  v_add_u32_sdwa v27, v1, -16 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD
)" + storeOutputs(20, 8);
  auto out = runWave(body, in, 8 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    uint32_t a = in[l], b = in[64 + l];
    EXPECT_EQ(out[l], (a >> 8 & 0xff) + (b >> 16));
    EXPECT_EQ(out[64 + l], uint32_t(int32_t(int8_t(a >> 24))) + (b & 0xff));
    EXPECT_EQ(out[128 + l], 0x55007788u | (a & b & 0xff) << 16);
    EXPECT_EQ(out[192 + l], uint32_t(int32_t(int16_t((a >> 16) | (b >> 24)))));
    EXPECT_EQ(out[256 + l], (a & 0xff) < (b & 0xff));
    EXPECT_EQ(out[320 + l], (a >> 16 & 0xff) << 2);
    EXPECT_EQ(out[384 + l], (a & 0xffff) * 2);
    // As a vector register, -16 would be one that the kernel does not have.
    EXPECT_EQ(out[448 + l], (a & 0xff) - 16);
  }
}

TEST(CrossLane, LaneReadsAndWrites) {
  auto in = ramp(64);
  std::string body = loadInputs(1, 1) + R"(
  s_mov_b32 exec_lo, 0xfff00000
  s_mov_b32 exec_hi, 0xffffffff
  v_readfirstlane_b32 s20, v1
  s_mov_b64 exec, 0
  v_readfirstlane_b32 s21, v1
  s_mov_b64 exec, -1
  v_readlane_b32 s22, v1, 63
  s_mov_b32 s24, 70
  v_readlane_b32 s23, v1, s24
  v_mov_b32 v20, s20
  v_mov_b32 v21, s21
  v_mov_b32 v22, s22
  v_mov_b32 v23, s23
  v_writelane_b32 v23, s24, 9
  v_mbcnt_lo_u32_b32 v24, -1, 0
  v_mbcnt_hi_u32_b32 v24, -1, v24
  v_mov_b32 v25, v1
  v_mov_b32 v26, v24
  s_nop 1
  v_permlane32_swap_b32 v25, v26
  v_mov_b32 v27, v1
  v_mov_b32 v28, v24
  s_nop 1
  v_permlane16_swap_b32 v27, v28
)" + storeOutputs(20, 9);
  auto out = runWave(body, in, 9 * 64);
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], in[20]);
    EXPECT_EQ(out[64 + l], in[0]);
    EXPECT_EQ(out[128 + l], in[63]);
    EXPECT_EQ(out[192 + l], l == 9 ? 70u : in[6]);
    EXPECT_EQ(out[256 + l], l);
    EXPECT_EQ(out[320 + l], l < 32 ? in[l] : l - 32);
    EXPECT_EQ(out[384 + l], l < 32 ? in[l + 32] : l);
    bool odd = l / 16 & 1;
    EXPECT_EQ(out[448 + l], odd ? l - 16 : in[l]);
    EXPECT_EQ(out[512 + l], odd ? l : in[l + 16]);
  }
}

TEST(CrossLane, ExecMasksWrites) {
  auto in = ramp(64);
  std::string body = loadInputs(1, 1) + R"(
  v_mov_b32 v20, 1
  v_mov_b32 v21, 2
  v_cmp_gt_u32 vcc, 140, v1
  s_and_saveexec_b64 s[20:21], vcc
  v_mov_b32 v20, 5
  s_xor_b64 exec, exec, s[20:21]
  v_mov_b32 v21, 6
  s_or_b64 exec, exec, s[20:21]
  s_movk_i32 s24, 150
  v_cmpx_lt_u32 s[22:23], s24, v1
  v_mov_b32 v21, 9
  s_mov_b64 exec, s[20:21]
)" + storeOutputs(20, 2);
  auto out = runWave(body, in, 128);
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(out[l], in[l] < 140 ? 5u : 1u);
    EXPECT_EQ(out[64 + l], in[l] > 150 ? 9u : in[l] < 140 ? 2u : 6u);
  }
}

} // namespace
} // namespace winnow::sim::test
