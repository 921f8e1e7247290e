// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// V_SMFMAC: where elements of the compressed A, its indices and B lie, for
// every type and shape. Layouts are the ISA's tables of "Sparse Matrices",
// written out anew: which k each lane and element of B is, and that elements 2g
// and 2g + 1 of A go with elements 4g to 4g + 3 of B in the same lane.
#include "TestKernels.h"

#include <gmock/gmock.h>

#include <random>

namespace winnow::sim::test {
namespace {

enum class Type { F16, Bf16, Fp8, Bf8, I8 };

unsigned widthOf(Type t) { return t == Type::F16 || t == Type::Bf16 ? 16 : 8; }

/// Codes of -3 to 3.
uint32_t codeOf(Type t, int v) {
  unsigned magnitude = unsigned(v < 0 ? -v : v);
  static const uint32_t half[] = {0, 0x3c00, 0x4000, 0x4200};
  static const uint32_t bfloat[] = {0, 0x3f80, 0x4000, 0x4040};
  static const uint32_t e4m3[] = {0, 0x38, 0x40, 0x44};
  static const uint32_t e5m2[] = {0, 0x3c, 0x40, 0x42};
  switch (t) {
  case Type::F16:
    return half[magnitude] | (v < 0 ? 0x8000 : 0);
  case Type::Bf16:
    return bfloat[magnitude] | (v < 0 ? 0x8000 : 0);
  case Type::Fp8:
    return e4m3[magnitude] | (v < 0 ? 0x80 : 0);
  case Type::Bf8:
    return e5m2[magnitude] | (v < 0 ? 0x80 : 0);
  case Type::I8:
    return uint8_t(v);
  }
  return 0;
}

struct Shape {
  unsigned m, k, set;
};

/// k of element e of B in a lane of part `part` of K: one run of 8 (16 bits) or
/// 16 (8 bits) elements, or, with twice the registers, a second run half of K
/// further (Tables 34 and 36, "Sparse Matrix Index Layout").
unsigned placeOfB(Type t, unsigned elements, unsigned k, unsigned part,
                  unsigned e) {
  unsigned run = widthOf(t) == 16 ? 8 : 16;
  return elements == run ? part * run + e
                         : e / run * (k / 2) + part * run + e % run;
}

struct Case {
  const char *types;
  Type a, b;
};
void PrintTo(const Case &c, std::ostream *out) { *out << c.types; }

class Smfmac : public ::testing::TestWithParam<Case> {};

TEST_P(Smfmac, EveryElement) {
  const Case &c = GetParam();
  unsigned width = widthOf(c.a), unit = width == 16 ? 1 : 2;
  const bool isInteger = c.a == Type::I8;
  // The sets of indices differ: the second shapes use others than the first.
  const Shape shapes[] = {{16, 32 * unit, 0},
                          {32, 16 * unit, 1},
                          {16, 64 * unit, 0},
                          {32, 32 * unit, width == 16 ? 1u : 0u}};
  std::mt19937 random(7);
  // Values of lanes and elements: 4 registers of A, 8 of B.
  const unsigned mostA = 128 / width, mostB = 256 / width;
  std::vector<std::vector<int>> a(64), b(64);
  std::vector<uint32_t> in(13 * 64), indices(64);
  static const uint32_t pairs[] = {4, 8, 12, 9, 13, 14}; // index 1 above 0
  for (unsigned l = 0; l < 64; ++l) {
    for (unsigned e = 0; e < mostA; ++e) {
      a[l].push_back(int(random() % 7) - 3);
      in[e * width / 32 * 64 + l] |= codeOf(c.a, a[l][e]) << (e * width % 32);
    }
    for (unsigned e = 0; e < mostB; ++e) {
      b[l].push_back(int(random() % 7) - 3);
      in[(4 + e * width / 32) * 64 + l] |= codeOf(c.b, b[l][e])
                                           << (e * width % 32);
    }
    for (unsigned g = 0; g < 8; ++g)
      indices[l] |= pairs[random() % 6] << (4 * g);
    in[12 * 64 + l] = indices[l];
  }
  std::string body = loadInputs(0, 13);
  unsigned at = 16;
  std::string stores;
  unsigned stored = 0;
  std::vector<unsigned> begins;
  for (const Shape &s : shapes) {
    unsigned results = s.m * s.m / 64;
    unsigned elementsB = s.m * s.k / 64, registersB = elementsB * width / 32;
    for (unsigned r = 0; r < results; ++r)
      body += "  v_mov_b32 v" + std::to_string(at + r) + ", " +
              (isInteger ? std::to_string(r)
               : r % 2   ? "1.0"
                         : "0") +
              "\n";
    body += std::string("  s_nop 3\n  v_smfmac_") +
            (isInteger ? "i32_" : "f32_") + std::to_string(s.m) + "x" +
            std::to_string(s.m) + "x" + std::to_string(s.k) + "_" + c.types +
            " v[" + std::to_string(at) + ":" +
            std::to_string(at + results - 1) +
            "], v[0:" + std::to_string(registersB / 2 - 1) +
            "], v[4:" + std::to_string(4 + registersB - 1) +
            "], v12 abid:" + std::to_string(s.set) + "\n";
    begins.push_back(stored);
    stored += results;
    at += results;
  }
  body += "  s_nop 15\n  s_nop 15\n" + storeOutputs(16, stored);
  auto out = runWave(body, in, stored * 64);
  for (size_t n = 0; n < 4; ++n) {
    const Shape &s = shapes[n];
    unsigned elementsB = s.m * s.k / 64, parts = 64 / s.m;
    std::vector<std::vector<int>> denseA(s.m, std::vector<int>(s.k)),
        denseB(s.k, std::vector<int>(s.m));
    for (unsigned l = 0; l < 64; ++l) {
      for (unsigned e = 0; e < elementsB; ++e)
        denseB[placeOfB(c.b, elementsB, s.k, l / s.m, e)][l % s.m] = b[l][e];
      unsigned bitsOfSet = elementsB; // two bits an element of A
      uint32_t set = indices[l] >> (bitsOfSet * s.set);
      for (unsigned e = 0; e < elementsB / 2; ++e) {
        unsigned index = set >> (2 * e) & 3;
        denseA[l % s.m][placeOfB(c.b, elementsB, s.k, l / s.m,
                                 e / 2 * 4 + index)] = a[l][e];
      }
    }
    ASSERT_EQ(parts * elementsB, s.k);
    for (unsigned r = 0; r < s.m * s.m / 64; ++r)
      for (unsigned l = 0; l < 64; ++l) {
        unsigned row =
            s.m == 16 ? 4 * (l / 16) + r : 8 * (r / 4) + 4 * (l / 32) + r % 4;
        int want = isInteger ? int(r) : int(r % 2);
        for (unsigned k = 0; k < s.k; ++k)
          want += denseA[row][k] * denseB[k][l % s.m];
        uint32_t got = out[(begins[n] + r) * 64 + l];
        ASSERT_EQ(isInteger ? int(got) : int(floatOf(got)), want)
            << s.m << "x" << s.k << " row " << row << " column " << l % s.m;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, Smfmac,
    ::testing::Values(Case{"f16", Type::F16, Type::F16},
                      Case{"bf16", Type::Bf16, Type::Bf16},
                      Case{"i8", Type::I8, Type::I8},
                      Case{"fp8_fp8", Type::Fp8, Type::Fp8},
                      Case{"fp8_bf8", Type::Fp8, Type::Bf8},
                      Case{"bf8_fp8", Type::Bf8, Type::Fp8},
                      Case{"bf8_bf8", Type::Bf8, Type::Bf8}),
    [](const auto &info) { return std::string(info.param.types); });

TEST(SmfmacFaults, IndicesHaveToAscend) {
  EXPECT_THAT(runWaveError("  v_mov_b32 v12, 0\n"
                           "  v_smfmac_f32_16x16x32_f16 v[16:19], v[0:1], "
                           "v[4:7], v12\n",
                           {0}, 64),
              ::testing::HasSubstr("indices 0 and 0 of lane 0 do not ascend"));
}

} // namespace
} // namespace winnow::sim::test
