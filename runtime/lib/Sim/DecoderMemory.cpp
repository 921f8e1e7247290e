// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operand decoding of memory and matrix instructions.
#include "Decoder.h"

#include "Wave.h"

namespace winnow::sim {

void InstructionDecoder::decodeScalarMemory() {
  uint32_t w0 = words[0], w1 = words[1];
  if (op.dataRegisters == 0) // cache maintenance
    return;
  bool isBuffer = std::string_view(op.name).starts_with("s_buffer");
  // Table rows of stores and atomics name the data as source 2.
  bool takesData = op.sources[2] != ValueType::None;
  Operand &data = takesData ? in.source[2] : in.destination;
  data.kind = Operand::Kind::Sgpr;
  data.index = uint16_t(bits(w0, 6, 7));
  if (data.index + op.dataRegisters > kScalarRegisters)
    fail("its data passes the scalar registers");
  in.returnsValue = op.resultRegisters && bits(w0, 16, 1); // GLC
  if (takesData && in.returnsValue)
    in.destination = data;
  in.source[0].kind = Operand::Kind::Sgpr;
  in.source[0].index = uint16_t(bits(w0, 0, 6) << 1);
  in.isBuffer = isBuffer;
  if (isBuffer && (in.source[0].index % 4 || in.source[0].index + 4 > kM0))
    fail("its descriptor does not begin at a multiple of four scalar "
         "registers");
  bool hasImmediate = bits(w0, 17, 1), hasRegister = bits(w0, 14, 1);
  if (hasImmediate)
    in.immediate = int32_t(w1 << 11) >> 11;
  if (hasRegister)
    in.source[1] = scalar(bits(w1, 25, 7), ValueType::B32);
  else if (!hasImmediate)
    in.source[1] = scalar(bits(w1, 0, 7), ValueType::B32);
}

void InstructionDecoder::decodeLds() {
  uint32_t w0 = words[0], w1 = words[1];
  bool acc = bits(w0, 25, 1);
  if (bits(w0, 16, 1))
    fail("global data share is not simulated");
  in.immediate = int32_t(bits(w0, 0, 8));
  in.immediate2 = int32_t(bits(w0, 8, 8));
  // Table rows name the registers of address, data0, data1 and result.
  if (op.sources[0] != ValueType::None)
    in.source[0] = vector(bits(w1, 0, 8), 1);
  if (op.sources[1] != ValueType::None)
    in.source[1] = vector(bits(w1, 8, 8), op.dataRegisters, acc);
  if (op.sources[2] != ValueType::None)
    in.source[2] = vector(bits(w1, 16, 8), op.dataRegisters, acc);
  if (op.resultRegisters)
    in.destination = vector(bits(w1, 24, 8), op.resultRegisters, acc);
}

void InstructionDecoder::decodeFlat() {
  uint32_t w0 = words[0], w1 = words[1];
  bool acc = bits(w1, 23, 1);
  unsigned segment = bits(w0, 14, 2); // 0 flat, 1 scratch, 2 global
  in.immediate = int32_t(w0 << 19) >> 19;
  in.returnsValue = bits(w0, 16, 1);
  unsigned base = bits(w1, 16, 7);
  bool hasBase = segment != 0 && base != 0x7f;
  if (segment == 1) {
    // gfx940 scratch: bit 13 says that the address register is used.
    if (bits(w0, 13, 1))
      in.source[0] = vector(bits(w1, 0, 8), 1);
    if (hasBase)
      in.source[2] = scalar(base, ValueType::B32);
  } else {
    in.source[0] = vector(bits(w1, 0, 8), hasBase ? 1 : 2);
    if (hasBase)
      in.source[2] = scalar(base, ValueType::B64);
    else if (segment == 0 && in.immediate < 0)
      fail("a negative offset in a flat access is not simulated");
  }
  if (op.sources[1] != ValueType::None)
    in.source[1] = vector(bits(w1, 8, 8), op.dataRegisters, acc);
  bool atomic = op.kind == InstructionClass::VectorAtomic;
  in.loadsLds = op.flags & kLoadsLds;
  if (op.resultRegisters && (!atomic || in.returnsValue) && !in.loadsLds)
    in.destination = vector(bits(w1, 24, 8), op.resultRegisters, acc);
}

void InstructionDecoder::decodeBuffer() {
  if (op.kind == InstructionClass::Wait) // cache maintenance has no operand
    return;
  uint32_t w0 = words[0], w1 = words[1];
  bool acc = bits(w1, 23, 1);
  in.isBuffer = true;
  in.immediate = int32_t(bits(w0, 0, 12));
  in.usesOffset = bits(w0, 12, 1);
  in.usesIndex = bits(w0, 13, 1);
  in.returnsValue = bits(w0, 14, 1);
  in.loadsLds = bits(w0, 16, 1);
  if (in.usesOffset || in.usesIndex)
    in.source[0] = vector(bits(w1, 0, 8), in.usesOffset + in.usesIndex);
  in.source[2].kind = Operand::Kind::Sgpr;
  in.source[2].index = uint16_t(bits(w1, 16, 5) << 2);
  if (in.source[2].index + 4 > kM0)
    fail("its descriptor passes the scalar registers");
  in.scale[0] = scalar(bits(w1, 24, 8), ValueType::B32);
  unsigned data = bits(w1, 8, 8);
  bool atomic = op.kind == InstructionClass::VectorAtomic;
  if (op.sources[1] != ValueType::None)
    in.source[1] = vector(data, op.dataRegisters, acc);
  if (in.loadsLds && op.kind != InstructionClass::VectorLoad)
    fail("a store from LDS is not simulated");
  if (op.resultRegisters && (!atomic || in.returnsValue) && !in.loadsLds)
    in.destination = vector(data, op.resultRegisters, acc);
}

void InstructionDecoder::decodeMfma(const uint32_t *pair) {
  uint32_t w0 = pair[0], w1 = pair[1];
  in.cbsz = uint8_t(bits(w0, 8, 3));
  in.abid = uint8_t(bits(w0, 11, 4));
  in.blgp = uint8_t(bits(w1, 29, 3));
  bool accC = bits(w0, 15, 1);
  // f8f6f4: the format of each operand decides its registers.
  auto formatRegisters = [](unsigned format) {
    return format < 2 ? 8u : format < 4 ? 6u : 4u;
  };
  bool isF8f6f4 = std::string_view(op.name).ends_with("f8f6f4");
  unsigned a = isF8f6f4 ? formatRegisters(in.cbsz) : op.dataRegisters;
  // A compressed A has half the elements of B.
  unsigned b = isF8f6f4             ? formatRegisters(in.blgp)
               : op.flags & kSparse ? 2u * op.dataRegisters
                                    : op.dataRegisters;
  if (isF8f6f4 && (in.cbsz > 4 || in.blgp > 4))
    fail("cbsz " + std::to_string(in.cbsz) + " and blgp " +
         std::to_string(in.blgp) + " name no f8f6f4 format");
  in.destination = vector(bits(w0, 0, 8), op.resultRegisters, accC);
  auto data = [&](unsigned encoding, unsigned count, bool acc) {
    if (encoding < 256) {
      fail("a matrix operand that is no vector register");
      return Operand();
    }
    return vector(encoding - 256, count, acc);
  };
  in.source[0] = data(bits(w1, 0, 9), a, bits(w1, 27, 1));
  in.source[1] = data(bits(w1, 9, 9), b, bits(w1, 28, 1));
  unsigned c = bits(w1, 18, 9);
  if (op.flags & kSparse) {
    // Indices are in an architectural register, whatever the accumulator is.
    in.source[2] = data(c, 1, false);
    return;
  }
  in.source[2] = c >= 256 ? vector(c - 256, op.resultRegisters, accC)
                          : scalar(c, op.result);
  if (in.source[2].kind != Operand::Kind::Vgpr &&
      in.source[2].kind != Operand::Kind::Constant)
    fail("a matrix accumulator in a scalar register");
  if (wordCount != 4)
    return;
  // v_mfma_ld_scale_b32, the first half: its op_sel bits pick the scale byte.
  uint32_t s0 = words[0], s1 = words[1];
  for (unsigned i = 0; i < 2; ++i) {
    in.scale[i] = any(bits(s1, 9 * i, 9), ValueType::B32);
    in.scale[i].select =
        uint8_t(bits(s0, 11 + i, 1) | bits(s1, 27 + i, 1) << 1);
  }
}

} // namespace winnow::sim
