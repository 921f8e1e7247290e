// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every element of A, B, C and D of each matrix instruction, one at a time: a
// matrix with a single one in it, and a partner whose elements all differ,
// show in which lane and register each element lies. The formulas are those of
// the CDNA3 and CDNA4 ISA manuals, "Matrix Core Layouts", written out here.
#include "TestKernels.h"

#include <map>

namespace winnow::sim::test {
namespace {

enum class Type { F32, F16, Bf16, Fp8, Bf8, I8 };

unsigned widthOf(Type t) {
  return t == Type::F32 ? 32 : t == Type::F16 || t == Type::Bf16 ? 16 : 8;
}

/// Codes of the integers 0 to 7.
uint32_t codeOf(Type t, unsigned v) {
  static const uint16_t half[] = {0,      0x3c00, 0x4000, 0x4200,
                                  0x4400, 0x4500, 0x4600, 0x4700};
  static const uint8_t e4m3[] = {0, 0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e};
  static const uint8_t e5m2[] = {0, 0x3c, 0x40, 0x42, 0x44, 0x45, 0x46, 0x47};
  switch (t) {
  case Type::F32:
    return bitsOf(float(v));
  case Type::F16:
    return half[v];
  case Type::Bf16:
    return bitsOf(float(v)) >> 16;
  case Type::Fp8:
    return e4m3[v];
  case Type::Bf8:
    return e5m2[v];
  case Type::I8:
    return v;
  }
  return 0;
}

struct Instruction {
  const char *name;
  unsigned m, k, blocks;
  Type a, b;
};
void PrintTo(const Instruction &i, std::ostream *out) { *out << i.name; }

/// A[block][i][k] (and B, with i the column): a lane holds consecutive k, and
/// lanes go through i first, then k or the blocks.
struct Place {
  unsigned lane, element;
};
Place placeOf(const Instruction &in, unsigned block, unsigned i, unsigned k) {
  if (in.k * widthOf(in.a) == 1024 || (in.m == 32 && in.k == 64)) {
    // f8f6f4 with 8 bits: two runs of 16, half of K apart.
    unsigned half = k / (in.k / 2), within = k % (in.k / 2);
    return {i + in.m * (within / 16), half * 16 + within % 16};
  }
  unsigned perLane = in.m * in.k * in.blocks / 64;
  unsigned lanesOfBlock = 64 / in.blocks;
  return {block * lanesOfBlock + k / perLane * in.m + i, k % perLane};
}

/// D[block][row][column] is in register r of lane l.
struct Result {
  unsigned block, row, column;
};
Result resultOf(const Instruction &in, unsigned r, unsigned l) {
  if (in.m == 4)
    return {l / 4, r, l % 4};
  unsigned perBlock = in.m * in.m / 64;
  unsigned within = r % perBlock;
  unsigned row = in.m == 16 ? 4 * (l / 16) + within
                            : 8 * (within / 4) + 4 * (l / 32) + within % 4;
  return {r / perBlock, row, l % in.m};
}

std::string range(const char *file, unsigned first, unsigned count) {
  std::string text = file + std::to_string(first);
  return count == 1 ? text
                    : std::string(file) + "[" + std::to_string(first) + ":" +
                          std::to_string(first + count - 1) + "]";
}

/// One code object, launched with many operands.
class Runner {
public:
  Runner(const Instruction &in) : in(in) {
    operand = in.m * in.k * in.blocks * widthOf(in.a) / 2048;
    results = in.m * in.m * in.blocks / 64;
    unsigned atB = operand + operand % 2, atC = 2 * atB;
    std::string body = "  s_load_dwordx4 s[8:11], s[0:1], 0x0\n"
                       "  s_waitcnt lgkmcnt(0)\n"
                       "  v_and_b32 v122, 0x3ff, v0\n";
    // The last inputs first: they end where the first ones begin.
    body += loadInputs(0, atC + results);
    body += std::string("  ") + in.name + " " + range("v", 80, results) + ", " +
            range("v", 0, operand) + ", " + range("v", atB, operand) + ", " +
            range("v", atC, results) + "\n  s_nop 15\n  s_nop 15\n" +
            storeOutputs(80, results);
    object = load(assemble(kernelAround(body)));
    words.resize((atC + results) * 64);
    beginB = atB * 64;
    beginC = atC * 64;
    input = upload(device, words, "in");
    output = upload(device, std::vector<uint32_t>(results * 64), "out");
  }

  void clear(unsigned begin, unsigned end) {
    std::fill(words.begin() + begin, words.begin() + end, 0);
  }
  void set(bool isB, unsigned block, unsigned i, unsigned k, unsigned value) {
    Place p = placeOf(in, block, i, k);
    unsigned width = widthOf(in.a), bit = p.element * width;
    uint32_t &word = words[(isB ? beginB : 0) + bit / 32 * 64 + p.lane];
    uint32_t mask = width == 32 ? ~0u : ((1u << width) - 1) << (bit % 32);
    word = (word & ~mask) | codeOf(isB ? in.b : in.a, value) << (bit % 32);
  }
  void setC(unsigned r, unsigned l, unsigned value) {
    words[beginC + r * 64 + l] =
        in.a == Type::I8 ? value : bitsOf(float(value));
  }
  /// D by register and lane, as integers.
  std::vector<int> run() {
    EXPECT_TRUE(device.write(input, std::as_bytes(std::span(words))));
    Arguments arguments;
    arguments.add(input).add(output);
    auto stats = device.launch(object, "k", {}, {64, 1, 1}, arguments.bytes);
    EXPECT_TRUE(stats) << stats.message();
    std::vector<int> out;
    for (uint32_t v : download<uint32_t>(device, output, results * 64))
      out.push_back(in.a == Type::I8 ? int(v) : int(floatOf(v)));
    return out;
  }

  const Instruction &in;
  unsigned operand = 0, results = 0, beginB = 0, beginC = 0;
  std::vector<uint32_t> words;

private:
  Device device;
  std::shared_ptr<const CodeObject> object;
  uint64_t input = 0, output = 0;
};

/// Differ along k, along i and between blocks, never 0.
unsigned label(unsigned block, unsigned i, unsigned k) {
  return 1 + (i * 3 + k * 5 + k / 7 + k / 49 + block * 2) % 7;
}

class MfmaOneHot : public ::testing::TestWithParam<Instruction> {};

TEST_P(MfmaOneHot, EachElementMeetsItsPartners) {
  const Instruction &in = GetParam();
  Runner runner(in);
  // One element of A (of B) is one; row i (column i) of D is then the partner's
  // row k, in that block alone.
  for (bool isB : {false, true}) {
    runner.clear(0, runner.beginC);
    for (unsigned block = 0; block < in.blocks; ++block)
      for (unsigned i = 0; i < in.m; ++i)
        for (unsigned k = 0; k < in.k; ++k)
          runner.set(!isB, block, i, k, label(block, i, k));
    for (unsigned block = 0; block < in.blocks; ++block)
      for (unsigned i = 0; i < in.m; ++i)
        for (unsigned k = 0; k < in.k; ++k) {
          runner.set(isB, block, i, k, 1);
          std::vector<int> d = runner.run();
          runner.set(isB, block, i, k, 0);
          for (unsigned r = 0; r < runner.results; ++r)
            for (unsigned l = 0; l < 64; ++l) {
              Result at = resultOf(in, r, l);
              bool isHit = at.block == block && (isB ? at.column : at.row) == i;
              unsigned other = isB ? at.row : at.column;
              int want = isHit ? int(label(block, other, k)) : 0;
              ASSERT_EQ(d[r * 64 + l], want)
                  << (isB ? "B" : "A") << "[" << block << "][" << i << "][" << k
                  << "], register " << r << " lane " << l;
            }
        }
  }
}

TEST_P(MfmaOneHot, EachElementOfCIsAddedToItsOwnOfD) {
  const Instruction &in = GetParam();
  Runner runner(in);
  runner.clear(0, unsigned(runner.words.size()));
  for (unsigned r = 0; r < runner.results; ++r)
    for (unsigned l = 0; l < 64; ++l)
      runner.setC(r, l, 1 + r * 64 + l);
  std::vector<int> d = runner.run();
  for (unsigned i = 0; i < d.size(); ++i)
    EXPECT_EQ(d[i], int(1 + i));
}

INSTANTIATE_TEST_SUITE_P(
    All, MfmaOneHot,
    ::testing::Values(
        Instruction{"v_mfma_f32_16x16x128_f8f6f4", 16, 128, 1, Type::Fp8,
                    Type::Fp8},
        Instruction{"v_mfma_f32_32x32x64_f8f6f4", 32, 64, 1, Type::Fp8,
                    Type::Fp8},
        Instruction{"v_mfma_f32_16x16x32_fp8_bf8", 16, 32, 1, Type::Fp8,
                    Type::Bf8},
        Instruction{"v_mfma_f32_16x16x32_bf8_fp8", 16, 32, 1, Type::Bf8,
                    Type::Fp8},
        Instruction{"v_mfma_f32_32x32x16_fp8_bf8", 32, 16, 1, Type::Fp8,
                    Type::Bf8},
        Instruction{"v_mfma_f32_32x32x16_bf8_fp8", 32, 16, 1, Type::Bf8,
                    Type::Fp8},
        Instruction{"v_mfma_f32_16x16x32_f16", 16, 32, 1, Type::F16, Type::F16},
        Instruction{"v_mfma_f32_32x32x16_bf16", 32, 16, 1, Type::Bf16,
                    Type::Bf16},
        Instruction{"v_mfma_f32_16x16x16_f16", 16, 16, 1, Type::F16, Type::F16},
        Instruction{"v_mfma_f32_32x32x8_bf16", 32, 8, 1, Type::Bf16,
                    Type::Bf16},
        Instruction{"v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, Type::F16,
                    Type::F16},
        Instruction{"v_mfma_f32_32x32x4_2b_f16", 32, 4, 2, Type::F16,
                    Type::F16},
        Instruction{"v_mfma_f32_4x4x4_16b_f16", 4, 4, 16, Type::F16, Type::F16},
        Instruction{"v_mfma_f32_16x16x4_f32", 16, 4, 1, Type::F32, Type::F32},
        Instruction{"v_mfma_f32_32x32x2_f32", 32, 2, 1, Type::F32, Type::F32},
        Instruction{"v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, Type::F32,
                    Type::F32},
        Instruction{"v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, Type::F32,
                    Type::F32},
        Instruction{"v_mfma_f32_4x4x1_16b_f32", 4, 1, 16, Type::F32, Type::F32},
        Instruction{"v_mfma_i32_16x16x64_i8", 16, 64, 1, Type::I8, Type::I8},
        Instruction{"v_mfma_i32_32x32x32_i8", 32, 32, 1, Type::I8, Type::I8},
        Instruction{"v_mfma_i32_16x16x32_i8", 16, 32, 1, Type::I8, Type::I8},
        Instruction{"v_mfma_i32_32x32x16_i8", 32, 16, 1, Type::I8, Type::I8},
        Instruction{"v_mfma_i32_32x32x4_2b_i8", 32, 4, 2, Type::I8, Type::I8},
        Instruction{"v_mfma_i32_16x16x4_4b_i8", 16, 4, 4, Type::I8, Type::I8},
        Instruction{"v_mfma_i32_4x4x4_16b_i8", 4, 4, 16, Type::I8, Type::I8}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace winnow::sim::test
