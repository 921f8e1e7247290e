// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MODE: rounding directions, denormals and overflow of each precision. Wanted
// values come from the host's own float unit set to the same direction (f32,
// f64) and from fixed-point integers (f16); the simulator uses neither.
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

// FP16_OVFL: what overflows f16 stops at 65504, whatever the direction.
TEST(Rounding, HalfOverflowSaturatesWhenModeSaysSo) {
  std::vector<uint32_t> in = std::vector<uint32_t>(128);
  in[0] = in[64] = 0x7bff; // largest + largest
  in[1] = in[65] = 0xfbff;
  in[2] = 0x7c00; // infinity stays
  in[66] = 0x3c00;
  auto out = runWave(loadInputs(1, 2) + setField(23, 1, 1) +
                         "  v_add_f16 v20, v1, v2\n  v_mul_f16 v21, v1, v2\n"
                         "  v_pk_add_f16 v22, v1, v2\n" +
                         setField(23, 1, 0) + "  v_add_f16 v23, v1, v2\n" +
                         storeOutputs(20, 4),
                     in, 256);
  EXPECT_EQ(out[0], 0x7bffu);
  EXPECT_EQ(out[1], 0xfbffu);
  EXPECT_EQ(out[2], 0x7c00u);
  EXPECT_EQ(out[64], 0x7bffu);
  EXPECT_EQ(out[65], 0x7bffu);
  EXPECT_EQ(out[128], 0x7bffu);
  EXPECT_EQ(out[192], 0x7c00u);
  EXPECT_EQ(out[193], 0xfc00u);
}

// Each precision has a bit for denormal sources and one for denormal results.
TEST(Rounding, DenormalsOfSourcesAndResults) {
  // Lanes: a denormal source with a normal result, and the other way round.
  std::vector<uint32_t> in(7 * 64);
  auto put = [&](unsigned lane, float a, float b, uint16_t ha, uint16_t hb,
                 double da, double db) {
    in[lane] = bitsOf(a);
    in[64 + lane] = bitsOf(b);
    in[128 + lane] = ha * 0x10001u;
    in[192 + lane] = hb * 0x10001u;
    uint64_t x = std::bit_cast<uint64_t>(da), y = std::bit_cast<uint64_t>(db);
    in[256 + lane] = uint32_t(x >> 32);
    in[320 + lane] = uint32_t(y >> 32);
  };
  put(0, 0x1p-130f, 0x1p10f, 0x0100, 0x6400, 0x1p-1030, 0x1p20); // * 1024
  put(1, 0x1p-126f, 0x1p-1f, 0x0400, 0x3800, 0x1p-1022, 0.5);
  std::string body = "  v_mov_b32 v10, 0\n  v_mov_b32 v11, v5\n"
                     "  v_mov_b32 v12, 0\n  v_mov_b32 v13, v6\n";
  for (unsigned bits = 0; bits < 4; ++bits) {
    // Eight registers a setting, pairs at even ones.
    auto v = [&](unsigned i) { return std::to_string(20 + 8 * bits + i); };
    body += setField(4, 4, bits | (~bits & 3) << 2) + "  v_mul_f32 v" + v(0) +
            ", v1, v2\n"
            "  v_mov_b32 v14, v1\n  v_mov_b32 v15, v1\n"
            "  v_mov_b32 v16, v2\n  v_mov_b32 v17, v2\n"
            "  v_pk_mul_f32 v[" +
            v(2) + ":" + v(3) + "], v[14:15], v[16:17]\n" +
            setField(4, 4, (~bits & 3) | bits << 2) + "  v_mul_f16 v" + v(1) +
            ", v3, v4\n  v_pk_mul_f16 v" + v(4) + ", v3, v4\n  v_mul_f64 v[" +
            v(6) + ":" + v(7) + "], v[10:11], v[12:13]\n";
  }
  auto out =
      runWave(loadInputs(1, 6) + body + storeOutputs(20, 32), in, 32 * 64);
  for (unsigned bits = 0; bits < 4; ++bits) {
    auto got = [&](unsigned i, unsigned lane) {
      return out[(8 * bits + i) * 64 + lane];
    };
    bool sources = bits & 1, results = bits & 2;
    float single[] = {sources ? 0x1p-120f : 0, results ? 0x1p-127f : 0};
    // 0x0100 is 2^-16; times 1024 it is 2^-6.
    uint32_t half[] = {sources ? 0x2400u : 0, results ? 0x0200u : 0};
    double wide[] = {sources ? 0x1p-1010 : 0, results ? 0x1p-1023 : 0};
    for (unsigned lane = 0; lane < 2; ++lane) {
      EXPECT_EQ(floatOf(got(0, lane)), single[lane]) << bits << lane;
      EXPECT_EQ(floatOf(got(2, lane)), single[lane]) << bits << lane;
      EXPECT_EQ(floatOf(got(3, lane)), single[lane]) << bits << lane;
      EXPECT_EQ(got(1, lane), half[lane]) << bits << lane;
      EXPECT_EQ(got(4, lane), half[lane] * 0x10001u) << bits << lane;
      EXPECT_EQ(
          std::bit_cast<double>(uint64_t(got(7, lane)) << 32 | got(6, lane)),
          wide[lane])
          << bits << lane;
    }
  }
}

// v_cmp_class tests bits; a flushed denormal is still told from zero.
TEST(Rounding, ClassesSeeDenormalsInEveryMode) {
  std::vector<uint32_t> in(64);
  in[0] = 1;
  in[1] = 0;
  auto out = runWave(loadInputs(1, 1) + setField(4, 4, 0) +
                         "  v_mov_b32 v2, 0x80\n  v_cmp_class_f32 vcc, v1, v2\n"
                         "  v_cndmask_b32 v20, 0, 1, vcc\n"
                         "  v_cmp_eq_f32 vcc, 0, v1\n"
                         "  v_cndmask_b32 v21, 0, 1, vcc\n" +
                         storeOutputs(20, 2),
                     in, 128);
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 0u);
  EXPECT_EQ(out[64], 1u); // the comparison flushes
}

TEST(Rounding, ModeReadsBackAndStartsAsTheDescriptorSays) {
  // FLOAT_MODE 0xf0 is the default of neither: descriptor says f64 only.
  auto out =
      runWave("  s_getreg_b32 s20, hwreg(HW_REG_MODE)\n" + setField(0, 4, 9) +
                  "  s_getreg_b32 s21, hwreg(HW_REG_MODE, 0, 4)\n"
                  "  s_mov_b32 s22, 0x5\n"
                  "  s_setreg_b32 hwreg(HW_REG_MODE, 2, 2), s22\n"
                  "  s_getreg_b32 s22, hwreg(HW_REG_MODE, 0, 4)\n"
                  "  v_mov_b32 v20, s20\n  v_mov_b32 v21, s21\n"
                  "  v_mov_b32 v22, s22\n" +
                  storeOutputs(20, 3),
              {0}, 192);
  EXPECT_EQ(out[0] & 0x3ff, 0x3c0u); // IEEE, DX10_CLAMP, f16/f64 denormals
  EXPECT_EQ(out[64], 9u);
  EXPECT_EQ(out[128], 5u);
}

// Output modifiers: not in IEEE mode, not while denormal results are kept; -0
// comes out as +0.
TEST(Rounding, OutputModifiersObeyMode) {
  std::vector<uint32_t> in(128);
  in[0] = bitsOf(3);
  in[64] = bitsOf(0.5f);
  in[1] = bitsOf(-0.0f);
  in[65] = bitsOf(-0.0f);
  const char *add = "  v_add_f32 %, v1, v2 mul:4\n";
  auto line = [&](unsigned d) {
    std::string text = add;
    return text.replace(text.find('%'), 1, "v" + std::to_string(d));
  };
  auto out = runWave(loadInputs(1, 2) + setField(4, 4, 0) + line(20) +
                         setField(9, 1, 0) + line(21) + setField(4, 4, 15) +
                         line(22) + storeOutputs(20, 3),
                     in, 192);
  EXPECT_EQ(floatOf(out[0]), 3.5f);
  EXPECT_EQ(floatOf(out[64]), 14.0f);
  EXPECT_EQ(floatOf(out[128]), 3.5f);
  EXPECT_EQ(out[1], 0x80000000u);
  EXPECT_EQ(out[65], 0u);
}

// DX10_CLAMP decides what a clamped NaN is.
TEST(Rounding, ClampOfNan) {
  std::vector<uint32_t> in(64, 0x7fc00000u);
  auto out = runWave(loadInputs(2, 1) + "  v_add_f32 v20, v2, v2 clamp\n" +
                         setField(8, 1, 0) + "  v_add_f32 v21, v2, v2 clamp\n" +
                         "  v_pk_add_f32 v[22:23], v[2:3], v[2:3] "
                         "op_sel_hi:[0,0] clamp\n" +
                         storeOutputs(20, 3),
                     in, 192);
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[64], 0x7fc00000u);
  EXPECT_EQ(out[128], 0x7fc00000u);
}

} // namespace
} // namespace winnow::sim::test
