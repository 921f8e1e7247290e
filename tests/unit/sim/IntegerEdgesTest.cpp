// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shift counts at and past the width, carries at their ends, EXEC = 0, and
// addresses that are no multiple of what they access.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

using Row = std::vector<uint32_t>;

std::vector<Row> runRows(const std::string &body, const std::vector<Row> &rows,
                         unsigned results) {
  size_t columns = rows[0].size();
  std::vector<uint32_t> in(columns * 64);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t c = 0; c < columns; ++c)
      in[c * 64 + r] = rows[r][c];
  auto out = runWave(loadInputs(2, unsigned(columns)) + body +
                         storeOutputs(20, results),
                     in, results * 64);
  std::vector<Row> got(rows.size());
  for (size_t r = 0; r < rows.size(); ++r)
    for (unsigned i = 0; i < results; ++i)
      got[r].push_back(out[i * 64 + r]);
  return got;
}

// Counts are taken modulo the width: 32 shifts nothing, 33 one bit.
TEST(IntegerEdges, VectorShiftsPastTheWidth) {
  const std::string body = "  v_lshlrev_b32 v20, v2, v3\n"
                           "  v_lshrrev_b32 v21, v2, v3\n"
                           "  v_ashrrev_i32 v22, v2, v3\n"
                           "  v_lshlrev_b64 v[24:25], v2, v[4:5]\n"
                           "  v_lshrrev_b64 v[26:27], v2, v[4:5]\n"
                           "  v_ashrrev_i64 v[28:29], v2, v[4:5]\n"
                           "  v_lshl_add_u32 v30, v3, v2, 1\n"
                           "  v_alignbit_b32 v31, v4, v3, v2\n"
                           "  v_lshlrev_b16 v32, v2, v3\n"
                           "  v_ashrrev_i16 v33, v2, v3\n"
                           "  v_mov_b32 v23, 0\n";
  const uint32_t v = 0x80018003, low = 0x00000001, high = 0x80000000;
  auto got = runRows(body,
                     {{31, v, low, high},
                      {32, v, low, high},
                      {33, v, low, high},
                      {63, v, low, high},
                      {64, v, low, high},
                      {65, v, low, high},
                      {0xffffffff, v, low, high},
                      {16, v, low, high}},
                     14);
  auto row = [](uint32_t left, uint32_t right, uint32_t arithmetic,
                uint64_t wideLeft, uint64_t wideRight, uint64_t wideArithmetic,
                uint32_t leftPlusOne, uint32_t aligned, uint32_t halfLeft,
                uint32_t halfArithmetic) {
    return Row{left,
               right,
               arithmetic,
               0,
               uint32_t(wideLeft),
               uint32_t(wideLeft >> 32),
               uint32_t(wideRight),
               uint32_t(wideRight >> 32),
               uint32_t(wideArithmetic),
               uint32_t(wideArithmetic >> 32),
               leftPlusOne,
               aligned,
               halfLeft,
               halfArithmetic};
  };
  // {1, v} aligned by 31: bits 62..31.
  EXPECT_EQ(got[0], row(0x80000000, 1, ~0u, 0x80000000, 0x100000000,
                        0xffffffff00000000, 0x80000001, 3, 0x8000, 0xffff));
  EXPECT_EQ(got[1], row(v, v, v, 0x100000000, 0x80000000, 0xffffffff80000000,
                        v + 1, v, 0x8003, 0x8003));
  EXPECT_EQ(got[2],
            row(0x00030006, 0x4000c001, 0xc000c001, 0x200000000, 0x40000000,
                0xffffffffc0000000, 0x00030007, 0xc000c001, 0x0006, 0xc001));
  EXPECT_EQ(got[3], row(0x80000000, 1, ~0u, 0x8000000000000000, 1, ~0ull,
                        0x80000001, 3, 0x8000, 0xffff));
  EXPECT_EQ(got[4], row(v, v, v, 0x8000000000000001, 0x8000000000000001,
                        0x8000000000000001, v + 1, v, 0x8003, 0x8003));
  EXPECT_EQ(got[5],
            row(0x00030006, 0x4000c001, 0xc000c001, 2, 0x4000000000000000,
                0xc000000000000000, 0x00030007, 0xc000c001, 0x0006, 0xc001));
  EXPECT_EQ(got[6], got[3]);
  // 16-bit shifts take four bits of the count.
  EXPECT_EQ(got[7][12], 0x8003u);
  EXPECT_EQ(got[7][13], 0x8003u);
}

TEST(IntegerEdges, ScalarShiftsPastTheWidth) {
  std::string body = "  s_mov_b32 s20, 0x80000001\n"
                     "  s_mov_b32 s22, 1\n  s_mov_b32 s23, 0x80000000\n";
  unsigned at = 20;
  auto narrow = [&](const char *name, unsigned count) {
    body += std::string("  ") + name + " s24, s20, " + std::to_string(count) +
            "\n  v_mov_b32 v" + std::to_string(at++) + ", s24\n";
  };
  auto wide = [&](const char *name, unsigned count) {
    body += std::string("  ") + name + " s[24:25], s[22:23], " +
            std::to_string(count) + "\n  v_mov_b32 v" + std::to_string(at) +
            ", s24\n  v_mov_b32 v" + std::to_string(at + 1) + ", s25\n";
    at += 2;
  };
  for (unsigned count : {32u, 33u, 63u}) {
    narrow("s_lshl_b32", count);
    narrow("s_lshr_b32", count);
    narrow("s_ashr_i32", count);
  }
  for (unsigned count : {32u, 64u, 65u}) {
    wide("s_lshl_b64", count);
    wide("s_lshr_b64", count);
    wide("s_ashr_i64", count);
  }
  auto out = runWave(body + storeOutputs(20, at - 20), {0}, (at - 20) * 64);
  Row got;
  for (unsigned i = 0; i < at - 20; ++i)
    got.push_back(out[i * 64]);
  const uint32_t v = 0x80000001;
  EXPECT_EQ(got, (Row{v, v, v, 2, 0x40000000, 0xc0000000, 0x80000000, 1, ~0u,
                      // by 32
                      0, 1, 0x80000000, 0, 0x80000000, ~0u,
                      // by 64: nothing
                      1, 0x80000000, 1, 0x80000000, 1, 0x80000000,
                      // by 65: one
                      2, 0, 0, 0x40000000, 0, 0xc0000000}));
}

TEST(IntegerEdges, BitFields) {
  auto got = runRows("  v_bfe_u32 v20, v2, v3, v4\n"
                     "  v_bfe_i32 v21, v2, v3, v4\n"
                     "  v_bfm_b32 v22, v4, v3\n"
                     "  v_alignbyte_b32 v23, v2, v4, v3\n"
                     "  v_perm_b32 v24, v2, v4, v5\n"
                     "  v_bfi_b32 v25, v2, v3, v4\n",
                     {{0xf0f08081, 4, 0, 0x0b0a0908},
                      {0xf0f08081, 31, 5, 0x0c0dff07},
                      {0xf0f08081, 32, 8, 0x80010203},
                      {0x7f007f00, 28, 31, 0x04030201}},
                     6);
  // Width 0 is empty; offset and width count modulo 32.
  EXPECT_EQ(got[0][0], 0u);
  EXPECT_EQ(got[0][1], 0u);
  EXPECT_EQ(got[0][2], 0u);
  EXPECT_EQ(got[1][0], 1u);
  EXPECT_EQ(got[1][1], 1u); // bit 4 of the field lies past the register: 0
  EXPECT_EQ(got[1][2], 0x80000000u);
  EXPECT_EQ(got[2][0], 0x81u);
  EXPECT_EQ(got[2][1], 0xffffff81u);
  EXPECT_EQ(got[2][2], 0xffu);
  EXPECT_EQ(got[3][0], 7u);
  EXPECT_EQ(got[3][2], 0xf0000000u);
  EXPECT_EQ(got[0][3], 0u); // by 4 bytes is by none: the low register, 0
  EXPECT_EQ(got[1][3], 0xf0808100u); // {a, 5} by 3 bytes
  // Selectors 8..11 spread the signs of words, 12 is 0, above 0xff; 0..3 are
  // bytes of the second register.
  EXPECT_EQ(got[0][4], 0xffff0000u);
  EXPECT_EQ(got[1][4], 0x00fffff0u);
  EXPECT_EQ(got[2][4], 0xff000000u);
  EXPECT_EQ(got[3][4], 0x00000000u | 0x00u << 24);
  EXPECT_EQ(got[2][5], (0xf0f08081u & 32u) | (~0xf0f08081u & 8u));
}

TEST(IntegerEdges, CarriesAtTheirEnds) {
  auto got = runRows("  s_mov_b64 s[20:21], 0xa\n"
                     "  v_addc_co_u32 v20, vcc, v2, v3, s[20:21]\n"
                     "  v_cndmask_b32 v21, 0, 1, vcc\n"
                     "  v_subb_co_u32 v22, vcc, v2, v3, s[20:21]\n"
                     "  v_cndmask_b32 v23, 0, 1, vcc\n"
                     "  v_subbrev_co_u32 v24, vcc, v2, v3, s[20:21]\n"
                     "  v_cndmask_b32 v25, 0, 1, vcc\n"
                     "  v_mov_b32 v26, vcc_hi\n",
                     {{~0u, ~0u}, // without a carry
                      {~0u, ~0u}, // with one
                      {0, 0},
                      {0, 0},
                      {5, ~0u}},
                     7);
  EXPECT_EQ(got[0], (Row{0xfffffffe, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(got[1], (Row{~0u, 1, ~0u, 1, ~0u, 1, 0}));
  EXPECT_EQ(got[2], (Row{0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(got[3], (Row{1, 0, ~0u, 1, ~0u, 1, 0}));
  EXPECT_EQ(got[4], (Row{4, 1, 6, 1, 0xfffffffa, 0, 0}));

  auto scalar = runWave(R"(
  s_mov_b32 s20, -1
  s_add_u32 s21, s20, 1
  s_addc_u32 s22, s20, s20
  s_addc_u32 s23, 0, 0
  s_sub_u32 s24, 0, 1
  s_subb_u32 s25, 0, 0
  s_subb_u32 s26, 0, s20
  s_subb_u32 s27, 5, 3
  v_mov_b32 v20, s22
  v_mov_b32 v21, s23
  v_mov_b32 v22, s25
  v_mov_b32 v23, s26
  v_mov_b32 v24, s27
)" + storeOutputs(20, 5),
                        {0}, 5 * 64);
  EXPECT_EQ(scalar[0], ~0u);   // -1 + -1 + 1
  EXPECT_EQ(scalar[64], 1u);   // its carry
  EXPECT_EQ(scalar[128], ~0u); // 0 - 0 - 1
  EXPECT_EQ(scalar[192], 0u);  // 0 - 0xffffffff - 1, borrows again
  EXPECT_EQ(scalar[256], 1u);  // 5 - 3 - 1
}

// With no lane on, nothing is written and no address is looked at; comparisons
// clear their mask.
TEST(IntegerEdges, NoActiveLane) {
  std::string body = loadInputs(2, 1) + R"(
  v_mov_b32 v20, 7
  v_mov_b32 v21, 7
  v_mov_b32 v22, 7
  v_mov_b32 v23, 7
  v_mov_b32 v24, 7
  v_mov_b32 v25, 7
  v_mov_b32 v30, -1
  v_mov_b32 v31, -1
  s_mov_b64 vcc, -1
  s_mov_b64 s[22:23], -1
  s_mov_b64 exec, 0
  v_mov_b32 v20, 9
  v_add_co_u32 v21, s[22:23], v2, v2
  v_cmp_eq_u32 vcc, v2, v2
  global_load_dword v22, v[30:31], off
  global_store_dword v[30:31], v2, off
  global_atomic_add v23, v[30:31], v2, off sc0
  ds_read_b32 v24, v30
  ds_write_b32 v30, v2
  ds_add_rtn_u32 v25, v30, v2
  scratch_store_dword v30, v2, off
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_readlane_b32 s26, v2, 5
  v_writelane_b32 v26, s26, 3
  s_mov_b32 s28, 0
  s_cbranch_execz Skipped
  s_mov_b32 s28, 1
Skipped:
  s_cbranch_execnz Never
  s_add_u32 s28, s28, 2
Never:
  s_mov_b64 s[24:25], vcc
  v_cmpx_eq_u32 vcc, v2, v2
  s_mov_b64 s[30:31], exec
  s_mov_b64 exec, -1
  v_mov_b32 v27, s24
  v_mov_b32 v28, s22
  v_mov_b32 v29, s28
  v_mov_b32 v30, s30
)" + storeOutputs(20, 11);
  std::vector<uint32_t> in(64);
  in[5] = 77;
  auto out = runWave(body, in, 11 * 64);
  for (unsigned i = 0; i < 6; ++i)
    for (unsigned l = 0; l < 64; ++l)
      EXPECT_EQ(out[i * 64 + l], 7u) << i;
  EXPECT_EQ(out[6 * 64 + 3], 77u); // lane writes do not ask EXEC
  EXPECT_EQ(out[7 * 64], 0u);
  EXPECT_EQ(out[8 * 64], 0u);
  EXPECT_EQ(out[9 * 64], 2u);
  EXPECT_EQ(out[10 * 64], 0u);
}

// Masks of comparisons and carries have zeros where EXEC has.
TEST(IntegerEdges, InactiveLanesOfMasks) {
  auto out = runWave(R"(
  s_mov_b64 s[20:21], -1
  s_mov_b64 vcc, -1
  v_mov_b32 v2, -1
  s_mov_b64 exec, 0xf0
  v_cmp_eq_u32 vcc, v2, v2
  v_add_co_u32 v3, s[20:21], v2, v2
  s_mov_b64 exec, -1
  v_mov_b32 v20, vcc_lo
  v_mov_b32 v21, vcc_hi
  v_mov_b32 v22, s20
  v_mov_b32 v23, s21
)" + storeOutputs(20, 4),
                     {0}, 256);
  EXPECT_EQ((Row{out[0], out[64], out[128], out[192]}),
            (Row{0xf0, 0, 0xf0, 0}));
}

// LDS and global memory take any byte address (the driver's unaligned mode);
// atomics do not.
TEST(IntegerEdges, UnalignedAddresses) {
  std::string body = R"(
  v_mov_b32 v2, 0
  v_mov_b32 v3, 0
  v_mov_b32 v4, 0
  ds_write_b64 v2, v[2:3]
  ds_write_b64 v2, v[2:3] offset:8
  ds_write_b64 v2, v[2:3] offset:16
  v_mov_b32 v4, 0x44332211
  v_mov_b32 v5, 0x88776655
  v_mov_b32 v2, 3
  s_waitcnt lgkmcnt(0)
  ds_write_b64 v2, v[4:5]
  v_mov_b32 v6, 0
  s_waitcnt lgkmcnt(0)
  ds_read_b128 v[20:23], v6 offset:1
  ds_read_u16 v24, v6 offset:3
  ds_read_i16 v25, v6 offset:9
  ds_read2_b32 v[26:27], v2 offset0:0 offset1:1
  ds_read_b32 v28, v6 offset:5
  ds_write_b16 v2, v4 offset:12
  s_waitcnt lgkmcnt(0)
  ds_read_b64 v[30:31], v6 offset:13
  v_mov_b32 v29, 0
  s_waitcnt lgkmcnt(0)
  global_load_dwordx2 v[32:33], v2, s[8:9]
  s_waitcnt vmcnt(0)
)";
  auto out = runWave(body + storeOutputs(20, 14),
                     {0x03020100, 0x07060504, 0x0b0a0908}, 14 * 64);
  auto got = [&](unsigned i) { return out[i * 64]; };
  EXPECT_EQ((Row{got(0), got(1), got(2), got(3)}),
            (Row{0x22110000, 0x66554433, 0x00008877, 0}));
  EXPECT_EQ(got(4), 0x2211u);
  EXPECT_EQ(got(5), 0xffff8877u);
  EXPECT_EQ((Row{got(6), got(7)}), (Row{0x44332211, 0x88776655}));
  EXPECT_EQ(got(8), 0x66554433u);
  EXPECT_EQ((Row{got(10), got(11)}), (Row{0x22110000, 0}));
  EXPECT_EQ((Row{got(12), got(13)}), (Row{0x06050403, 0x0a090807}));
  EXPECT_THAT(runWaveError("  v_mov_b32 v1, 2\n  ds_add_u32 v1, v1\n", {1}, 1),
              ::testing::HasSubstr("not a multiple of 4"));
  EXPECT_THAT(runWaveError("  v_mov_b32 v1, 2\n"
                           "  global_atomic_add v1, v1, s[8:9]\n",
                           {1, 1}, 1),
              ::testing::HasSubstr("not a multiple of 4"));
}

} // namespace
} // namespace winnow::sim::test
