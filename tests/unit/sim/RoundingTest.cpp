// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounding directions of each precision. Wanted values come from the host's own
// float unit set to the same direction (f32, f64) and from fixed-point integers
// (f16); the simulator uses neither.
#include "TestKernels.h"

#include <cfenv>
#include <cmath>
#include <gmock/gmock.h>
#include <limits>
#include <random>

namespace winnow::sim::test {
namespace {

constexpr unsigned kModes = 4;
// MODE's order: to nearest even, up, down, toward zero.
const int kHostModes[kModes] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD,
                                FE_TOWARDZERO};

/// `compute` under a rounding direction of the host. Operands and result go
/// through volatile memory, so that nothing is computed ahead of time.
template <typename F> auto rounded(unsigned mode, F compute) {
  int before = std::fegetround();
  std::fesetround(kHostModes[mode]);
  volatile auto result = compute();
  std::fesetround(before);
  return decltype(compute())(result);
}

std::string setField(unsigned first, unsigned width, unsigned value) {
  return "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, " + std::to_string(first) +
         ", " + std::to_string(width) + "), " + std::to_string(value) + "\n";
}

/// Every instruction of `lines` in each rounding mode of f32 and of f16/f64;
/// "D" stands for the result register (`registers` each), which begin at v20.
std::string inEveryMode(const std::vector<std::string> &lines,
                        unsigned registers) {
  std::string body = setField(4, 4, 15);
  unsigned at = 20;
  for (unsigned mode = 0; mode < kModes; ++mode) {
    body += setField(0, 4, mode | mode << 2);
    for (std::string line : lines) {
      std::string d = registers == 1 ? "v" + std::to_string(at)
                                     : "v[" + std::to_string(at) + ":" +
                                           std::to_string(at + 1) + "]";
      line.replace(line.find('D'), 1, d);
      body += "  " + line + "\n";
      at += registers;
    }
  }
  return body + setField(0, 4, 0);
}

/// Numbers of every size, some of them extreme or special.
template <typename T> std::vector<T> samples(unsigned seed) {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {T(0),
                           -T(0),
                           L::denorm_min(),
                           -L::denorm_min(),
                           L::min(),
                           -L::min(),
                           L::max(),
                           -L::max(),
                           T(1),
                           T(-1),
                           T(1) + L::epsilon(),
                           T(1) - L::epsilon() / 2,
                           L::infinity(),
                           -L::infinity()};
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> fraction(1, 2);
  int range = L::max_exponent;
  while (values.size() < 64) {
    // Half of them close to one, so that sums cancel and overlap.
    int exponent = values.size() % 2 ? int(random() % 8) - 4
                                     : int(random() % (2 * range)) - range;
    T v = T(std::ldexp(fraction(random), std::max(exponent, L::min_exponent)));
    values.push_back(random() % 2 ? v : -v);
  }
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

bool sameFloat(float want, uint32_t got) {
  return want != want ? floatOf(got) != floatOf(got) : bitsOf(want) == got;
}

TEST(Rounding, SinglePrecision) {
  const std::vector<std::string> lines = {
      "v_add_f32 D, v1, v2",     "v_sub_f32 D, v1, v2",
      "v_subrev_f32 D, v1, v2",  "v_mul_f32 D, v1, v2",
      "v_fma_f32 D, v1, v2, v3", "v_cvt_f32_i32 D, v4",
      "v_cvt_f32_u32 D, v4",     "v_cvt_f32_f64 D, v[6:7]",
      "v_ldexp_f32 D, v1, v5",   "v_fmac_f32 D, v1, v2",
      "v_fract_f32 D, v1"};
  std::string body = inEveryMode(lines, 1);
  // The accumulator of v_fmac is its destination.
  for (size_t at = 0; (at = body.find("  v_fmac_f32 v", at)) != body.npos;) {
    std::string d = body.substr(at + 13, body.find(',', at) - at - 13);
    std::string copy = "  v_mov_b32 " + d + ", v3\n";
    body.insert(at, copy);
    at += copy.size() + 10;
  }
  std::vector<uint32_t> in(7 * 64);
  auto a = samples<float>(1), b = samples<float>(2), c = samples<float>(3);
  auto wide = samples<double>(4);
  std::mt19937_64 random(5);
  std::vector<double> d(64);
  for (unsigned l = 0; l < 64; ++l) {
    if (l % 3 == 0 && std::isfinite(a[l] * b[l]))
      c[l] = -a[l] * b[l]; // cancels all but the product's lost bits
    in[l] = bitsOf(a[l]);
    in[64 + l] = bitsOf(b[l]);
    in[128 + l] = bitsOf(c[l]);
    in[192 + l] = uint32_t(random());
    // Half of them within the range of f32's denormals and normals.
    d[l] = l % 2 ? wide[l] : std::ldexp(double(a[l] * 1.0000001), -20);
    uint64_t bits = std::bit_cast<uint64_t>(d[l]);
    in[320 + l] = uint32_t(bits);
    in[384 + l] = uint32_t(bits >> 32);
    in[256 + l] = uint32_t(int(random() % 300) - 150);
  }
  auto out = runWave(loadInputs(1, 7) + body +
                         storeOutputs(20, unsigned(lines.size()) * kModes),
                     in, lines.size() * kModes * 64);
  for (unsigned mode = 0; mode < kModes; ++mode)
    for (unsigned l = 0; l < 64; ++l) {
      volatile float x = a[l], y = b[l], z = c[l];
      volatile int32_t n = int32_t(in[192 + l]);
      volatile uint32_t u = in[192 + l];
      volatile double w = d[l];
      int power = int32_t(in[256 + l]);
      float fract = rounded(mode, [&] { return float(x - std::floor(x)); });
      if (fract >= 1)
        fract = std::nextafter(1.0f, 0.0f);
      const float want[] = {
          rounded(mode, [&] { return float(x + y); }),
          rounded(mode, [&] { return float(x - y); }),
          rounded(mode, [&] { return float(y - x); }),
          rounded(mode, [&] { return float(x * y); }),
          rounded(mode, [&] { return std::fma(x, y, z); }),
          rounded(mode, [&] { return float(n); }),
          rounded(mode, [&] { return float(u); }),
          rounded(mode, [&] { return float(w); }),
          rounded(mode, [&] { return std::ldexp(float(x), power); }),
          rounded(mode, [&] { return std::fma(x, y, z); }),
          fract,
      };
      for (size_t i = 0; i < lines.size(); ++i)
        EXPECT_TRUE(sameFloat(want[i], out[(mode * lines.size() + i) * 64 + l]))
            << lines[i] << " mode " << mode << " of " << x << ", " << y << ", "
            << z << ": " << floatOf(out[(mode * lines.size() + i) * 64 + l])
            << ", not " << want[i];
    }
}

TEST(Rounding, DoublePrecision) {
  const std::vector<std::string> lines = {
      "v_add_f64 D, v[2:3], v[4:5]", "v_mul_f64 D, v[2:3], v[4:5]",
      "v_fma_f64 D, v[2:3], v[4:5], v[6:7]", "v_ldexp_f64 D, v[2:3], v8"};
  std::vector<uint32_t> in(7 * 64);
  auto a = samples<double>(6), b = samples<double>(7), c = samples<double>(8);
  std::mt19937_64 random(9);
  for (unsigned l = 0; l < 64; ++l) {
    if (l % 3 == 0 && std::isfinite(a[l] * b[l]))
      c[l] = -a[l] * b[l];
    const double values[] = {a[l], b[l], c[l]};
    for (unsigned v = 0; v < 3; ++v) {
      uint64_t bits = std::bit_cast<uint64_t>(values[v]);
      in[2 * v * 64 + l] = uint32_t(bits);
      in[(2 * v + 1) * 64 + l] = uint32_t(bits >> 32);
    }
    in[6 * 64 + l] = uint32_t(int(random() % 2400) - 1200);
  }
  auto out = runWave(loadInputs(2, 7) + inEveryMode(lines, 2) +
                         storeOutputs(20, 2 * unsigned(lines.size()) * kModes),
                     in, 2 * lines.size() * kModes * 64);
  for (unsigned mode = 0; mode < kModes; ++mode)
    for (unsigned l = 0; l < 64; ++l) {
      volatile double x = a[l], y = b[l], z = c[l];
      int power = int32_t(in[6 * 64 + l]);
      const double want[] = {
          rounded(mode, [&] { return double(x + y); }),
          rounded(mode, [&] { return double(x * y); }),
          rounded(mode, [&] { return std::fma(x, y, z); }),
          rounded(mode, [&] { return std::ldexp(double(x), power); })};
      for (size_t i = 0; i < lines.size(); ++i) {
        size_t at = 2 * (mode * lines.size() + i) * 64 + l;
        uint64_t got = uint64_t(out[at + 64]) << 32 | out[at];
        if (want[i] != want[i])
          EXPECT_EQ(got, 0x7ff8000000000000ull);
        else
          EXPECT_EQ(got, std::bit_cast<uint64_t>(want[i]))
              << lines[i] << " mode " << mode << " of " << x << ", " << y
              << ", " << z << ": " << std::bit_cast<double>(got) << ", not "
              << want[i];
      }
    }
}

/// f16 by fixed point: every finite f16 is a multiple of 2^-24, a product of
/// two one of 2^-48, and all fit 128 bits.
__extension__ typedef __int128 Fixed;
constexpr int kPoint = 48;

Fixed fixedOf(uint16_t half) {
  int exponent = half >> 10 & 31, fraction = half & 1023;
  Fixed v = exponent ? Fixed(1024 + fraction) << (exponent - 1) : fraction;
  return (half & 0x8000 ? -v : v) * (Fixed(1) << (kPoint - 24));
}
/// The two f16 around a value, and the choice among them.
uint16_t halfOf(Fixed value, unsigned mode, bool zeroIsNegative) {
  if (value == 0)
    return zeroIsNegative ? 0x8000 : 0;
  bool isNegative = value < 0;
  Fixed magnitude = isNegative ? -value : value;
  unsigned low = 0, high = 0x7c00; // the code of 65536, were it finite
  while (high - low > 1) {
    unsigned middle = (low + high) / 2;
    (fixedOf(uint16_t(middle)) <= magnitude ? low : high) = middle;
  }
  Fixed below = magnitude - fixedOf(uint16_t(low));
  Fixed above =
      (high == 0x7c00 ? Fixed(65536) << kPoint : fixedOf(uint16_t(high))) -
      magnitude;
  bool takesHigh = mode == 0   ? above < below || (above == below && low & 1)
                   : mode == 1 ? !isNegative
                   : mode == 2 ? isNegative
                               : false;
  // Past the largest number, directions away from zero reach infinity.
  if (magnitude >= Fixed(65536) << kPoint)
    takesHigh =
        mode == 0 || (mode == 1 && !isNegative) || (mode == 2 && isNegative);
  unsigned code = below == 0 ? low : takesHigh ? high : low;
  return uint16_t(code | (isNegative ? 0x8000 : 0));
}

TEST(Rounding, HalfPrecision) {
  const std::vector<std::string> lines = {
      "v_add_f16 D, v1, v2",        "v_sub_f16 D, v1, v2",
      "v_mul_f16 D, v1, v2",        "v_fma_f16 D, v1, v2, v3",
      "v_pk_add_f16 D, v1, v2",     "v_pk_mul_f16 D, v1, v2",
      "v_pk_fma_f16 D, v1, v2, v3", "v_cvt_f16_u16 D, v1",
      "v_cvt_f16_i16 D, v1",        "v_ldexp_f16 D, v1, v4"};
  std::vector<uint32_t> in(4 * 64);
  std::mt19937 random(10);
  auto finite = [&] {
    uint16_t code = uint16_t(random());
    return (code & 0x7c00) == 0x7c00 ? uint16_t(code ^ 0x4000) : code;
  };
  for (unsigned l = 0; l < 64; ++l)
    for (unsigned r = 0; r < 3; ++r)
      in[r * 64 + l] = uint32_t(finite()) << 16 | finite();
  for (unsigned l = 0; l < 64; ++l)
    in[192 + l] = uint32_t(int(random() % 30) - 15) & 0xffff;
  in[0] = in[64] = 0x7bff7bff; // largest + largest
  in[1] = in[65] = 0xfbff0001; // underflow of a product
  auto out = runWave(loadInputs(1, 4) + inEveryMode(lines, 1) +
                         storeOutputs(20, unsigned(lines.size()) * kModes),
                     in, lines.size() * kModes * 64);
  for (unsigned mode = 0; mode < kModes; ++mode)
    for (unsigned l = 0; l < 64; ++l)
      for (unsigned half = 0; half < 2; ++half) {
        auto bits = [&](unsigned r) {
          return uint16_t(in[r * 64 + l] >> (16 * half));
        };
        uint16_t a = bits(0), b = bits(1), c = bits(2);
        Fixed x = fixedOf(a), y = fixedOf(b), z = fixedOf(c);
        Fixed product = (x >> 24) * (y >> 24); // in units of 2^-48
        bool productSign = (a ^ b) >> 15, isDown = mode == 2;
        auto zeroSign = [&](bool first, bool second) {
          return first == second ? first : isDown;
        };
        bool signA = a >> 15, signB = b >> 15, signC = c >> 15;
        uint16_t add = halfOf(x + y, mode, zeroSign(signA, signB));
        uint16_t multiply = halfOf(product, mode, productSign);
        uint16_t fused = halfOf(
            product + z, mode,
            product == 0 && z == 0 ? zeroSign(productSign, signC) : isDown);
        int power = int16_t(in[192 + l]);
        // 2^15 at most: still an integer multiple of 2^-48.
        Fixed scaled = power < 0 ? x >> -power : x << power;
        const uint16_t want[] = {
            add,
            halfOf(x - y, mode, zeroSign(signA, !signB)),
            multiply,
            fused,
            add,
            multiply,
            fused,
            halfOf(Fixed(a) << kPoint, mode, false),
            halfOf(Fixed(int16_t(a)) * (Fixed(1) << kPoint), mode, false),
            halfOf(scaled, mode, signA)};
        for (size_t i = 0; i < lines.size(); ++i) {
          bool isPacked = lines[i].starts_with("v_pk");
          if (half && !isPacked)
            continue;
          uint32_t got = out[(mode * lines.size() + i) * 64 + l];
          EXPECT_EQ(got >> (16 * half) & 0xffff, want[i])
              << lines[i] << " mode " << mode << " of " << std::hex << a << ", "
              << b << ", " << c;
        }
      }
}

TEST(Rounding, PackedSinglesAndMixedSums) {
  const std::vector<std::string> pairs = {
      "v_pk_add_f32 D, v[2:3], v[4:5]", "v_pk_mul_f32 D, v[2:3], v[4:5]",
      "v_pk_fma_f32 D, v[2:3], v[4:5], v[6:7]"};
  const std::vector<std::string> mixed = {"v_fma_mix_f32 D, v2, v4, v6",
                                          "v_fma_mixlo_f16 D, v2, v4, v6"};
  std::vector<uint32_t> in(6 * 64);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> value(-4, 4);
  for (uint32_t &word : in)
    word = bitsOf(value(random));
  std::string body = inEveryMode(pairs, 2);
  for (unsigned mode = 0; mode < kModes; ++mode) {
    body += setField(0, 4, mode | mode << 2);
    for (unsigned i = 0; i < 2; ++i) {
      std::string line = mixed[i];
      line.replace(line.find('D'), 1, "v" + std::to_string(44 + 2 * mode + i));
      body += "  " + line + "\n";
    }
  }
  auto out =
      runWave(loadInputs(2, 6) + body + storeOutputs(20, 32), in, 32 * 64);
  for (unsigned mode = 0; mode < kModes; ++mode)
    for (unsigned l = 0; l < 64; ++l) {
      float single = 0;
      for (unsigned half = 0; half < 2; ++half) {
        volatile float x = floatOf(in[half * 64 + l]),
                       y = floatOf(in[(2 + half) * 64 + l]),
                       z = floatOf(in[(4 + half) * 64 + l]);
        float fused = rounded(mode, [&] { return std::fma(x, y, z); });
        const float want[] = {rounded(mode, [&] { return float(x + y); }),
                              rounded(mode, [&] { return float(x * y); }),
                              fused};
        for (unsigned i = 0; i < 3; ++i)
          EXPECT_EQ(floatOf(out[(6 * mode + 2 * i + half) * 64 + l]), want[i])
              << pairs[i] << " mode " << mode;
        if (!half)
          single = fused;
      }
      EXPECT_EQ(floatOf(out[(24 + 2 * mode) * 64 + l]), single);
      // The f32 sum is rounded again, to f16; all are far from its ends.
      Fixed exact = Fixed(std::ldexp(double(single), kPoint));
      EXPECT_EQ(out[(25 + 2 * mode) * 64 + l] & 0xffff,
                halfOf(exact, mode, std::signbit(single)));
    }
}

// What does not depend on MODE: integers from floats, and f16 toward zero.
TEST(Rounding, ConversionsOfFixedDirection) {
  std::string body;
  unsigned at = 20;
  for (unsigned mode = 0; mode < kModes; ++mode) {
    body += setField(0, 4, mode | mode << 2);
    for (const char *line :
         {"v_cvt_i32_f32 ", "v_rndne_f32 ", "v_cvt_flr_i32_f32 "})
      body += std::string("  ") + line + "v" + std::to_string(at++) + ", v1\n";
    body += "  v_cvt_pkrtz_f16_f32 v" + std::to_string(at++) + ", v1, v1\n";
  }
  std::vector<uint32_t> in(64);
  in[0] = bitsOf(2.5f);
  in[1] = bitsOf(-2.5f);
  in[2] = bitsOf(0x1.ffcp0f + 0x1p-12f); // between two f16
  auto out = runWave(loadInputs(1, 1) + body + storeOutputs(20, 16), in, 1024);
  for (unsigned mode = 0; mode < kModes; ++mode) {
    auto got = [&](unsigned i, unsigned lane) {
      return out[(4 * mode + i) * 64 + lane];
    };
    EXPECT_EQ(got(0, 0), 2u);
    EXPECT_EQ(got(0, 1), uint32_t(-2));
    EXPECT_EQ(floatOf(got(1, 0)), 2.0f);
    EXPECT_EQ(floatOf(got(1, 1)), -2.0f);
    EXPECT_EQ(got(2, 0), 2u);
    EXPECT_EQ(got(2, 1), uint32_t(-3));
    EXPECT_EQ(got(3, 2), 0x3fff3fffu);
  }
}

TEST(Rounding, UndocumentedConversionsStop) {
  EXPECT_THAT(
      runWaveError(setField(2, 2, 3) + "  v_cvt_pk_bf16_f32 v1, v0, v0\n", {1},
                   1),
      ::testing::HasSubstr("is not documented"));
  EXPECT_EQ(runWaveError("  v_cvt_pk_bf16_f32 v1, v0, v0\n", {1}, 1), "");
  EXPECT_THAT(runWaveError(setField(12, 1, 1), {1}, 1),
              ::testing::HasSubstr("traps on float exceptions"));
}

} // namespace
} // namespace winnow::sim::test
