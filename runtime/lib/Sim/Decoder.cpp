// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operand decoding of every encoding but the memory and matrix ones.
#include "Decoder.h"

#include "Wave.h"

#include <bit>

namespace winnow::sim {

InstructionDecoder::InstructionDecoder(const Operation &operation,
                                       const uint32_t *words,
                                       unsigned wordCount,
                                       RegisterLimits limits, Instruction &out)
    : op(operation), words(words), wordCount(wordCount), limits(limits),
      in(out) {}

std::optional<std::string> InstructionDecoder::run() {
  in.handler = op.handler;
  in.operation = &op;
  in.kind = op.kind;
  in.resultType = op.result;
  for (unsigned i = 0; i < 3; ++i)
    in.sourceType[i] = op.sources[i];
  in.keepsOtherHalf = op.flags & kKeepsOtherHalf;
  decode();
  if (failure)
    return failure->what;
  return std::nullopt;
}

void InstructionDecoder::fail(std::string what) {
  if (!failure)
    failure = Failure{std::move(what)};
}

void InstructionDecoder::decode() {
  uint32_t w = words[0];
  if (w >> 30 == 2)
    return decodeScalar();
  if (w >> 31 == 0) {
    if (bits(w, 25, 7) == 0x3f)
      return decodeVop1();
    if (bits(w, 25, 7) == 0x3e)
      return decodeVopc();
    return decodeVop2();
  }
  switch (w >> 26) {
  case 0b110000:
    return decodeScalarMemory();
  case 0b110100:
    return bits(w, 23, 3) == 7 ? decodeVop3p() : decodeVop3();
  case 0b110110:
    return decodeLds();
  case 0b110111:
    return decodeFlat();
  case 0b111000:
    return decodeBuffer();
  default:
    fail("its encoding is not simulated");
  }
}

Operand InstructionDecoder::constant(uint64_t value) const {
  Operand operand;
  operand.kind = Operand::Kind::Constant;
  operand.value = value;
  return operand;
}

Operand InstructionDecoder::inlineInteger(int64_t value, ValueType type) const {
  switch (type) {
  case ValueType::B64:
  case ValueType::F64:
    return constant(uint64_t(value));
  case ValueType::B16:
  case ValueType::F16:
    return constant(uint16_t(value));
  default:
    return constant(uint32_t(value));
  }
}

Operand InstructionDecoder::inlineFloat(unsigned encoding, ValueType type) {
  static const uint64_t f64[] = {
      0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
      0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
      0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};
  static const uint32_t f32[] = {0x3f000000, 0xbf000000, 0x3f800000,
                                 0xbf800000, 0x40000000, 0xc0000000,
                                 0x40800000, 0xc0800000, 0x3e22f983};
  static const uint16_t f16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                 0xc000, 0x4400, 0xc400, 0x3118};
  unsigned i = encoding - 240;
  switch (type) {
  case ValueType::B64:
  case ValueType::F64:
    return constant(f64[i]);
  case ValueType::B16:
  case ValueType::F16:
  case ValueType::PackedF16:
    return constant(f16[i]);
  case ValueType::PackedB16:
    fail("a float constant for packed integers is not simulated");
    return {};
  default:
    return constant(f32[i]);
  }
}

unsigned InstructionDecoder::literalWord() {
  // The literal is the last word of the instruction.
  return wordCount - 1;
}

Operand InstructionDecoder::literal(ValueType type) {
  if (wordCount < 2) {
    fail("its literal constant is missing");
    return {};
  }
  uint32_t value = words[literalWord()];
  if (type == ValueType::F64)
    return constant(uint64_t(value) << 32);
  // Zero extended, as LLVM relies on for s_mov_b64; signed operations sign
  // extend (CDNA4 ISA, "Literal Constants").
  bool isSigned =
      std::string_view(op.name).find("_i64") != std::string_view::npos;
  if (type == ValueType::B64 && isSigned)
    return constant(uint64_t(int64_t(int32_t(value))));
  if (type == ValueType::B16 || type == ValueType::F16)
    return constant(value & 0xffff);
  return constant(value);
}

Operand InstructionDecoder::scalar(unsigned encoding, ValueType type) {
  Operand operand;
  if (encoding < kScalarRegisters) {
    operand.kind = Operand::Kind::Sgpr;
    operand.index = uint16_t(encoding);
    if (registersOf(type) == 2 && encoding == kScalarRegisters - 1)
      fail("its register pair begins at exec_hi");
    return operand;
  }
  if (encoding == 128)
    return inlineInteger(0, type);
  if (encoding >= 129 && encoding <= 192)
    return inlineInteger(int64_t(encoding) - 128, type);
  if (encoding >= 193 && encoding <= 208)
    return inlineInteger(192 - int64_t(encoding), type);
  if (encoding >= 240 && encoding <= 248)
    return inlineFloat(encoding, type);
  switch (encoding) {
  case 235:
  case 237:
    // The aperture is the high dword; compilers read the pair for it.
    if (type != ValueType::B64)
      fail("a 32-bit read of an aperture register is not simulated");
    return constant(encoding == 235 ? kSharedBase : kPrivateBase);
  case 251:
    operand.kind = Operand::Kind::Vccz;
    return operand;
  case 252:
    operand.kind = Operand::Kind::Execz;
    return operand;
  case 253:
    operand.kind = Operand::Kind::Scc;
    return operand;
  case 255:
    return literal(type);
  default:
    fail("source operand " + std::to_string(encoding) + " is not simulated");
    return operand;
  }
}

Operand InstructionDecoder::vector(unsigned number, unsigned count, bool acc) {
  Operand operand;
  operand.kind = Operand::Kind::Vgpr;
  operand.plain = true;
  operand.index = uint16_t(number + (acc ? limits.accumOffset : 0));
  unsigned most = acc ? limits.rows : std::min(limits.rows, limits.accumOffset);
  if (operand.index + std::max(count, 1u) > most)
    fail(std::string("it uses register ") + (acc ? "a" : "v") +
         std::to_string(number + std::max(count, 1u) - 1) +
         ", the kernel has " +
         std::to_string(acc ? limits.rows -
                                  std::min(limits.rows, limits.accumOffset)
                            : most));
  return operand;
}

Operand InstructionDecoder::any(unsigned encoding, ValueType type,
                                unsigned registers) {
  if (encoding >= 256)
    return vector(encoding - 256, registers ? registers : registersOf(type),
                  op.flags & kAccSource);
  if (registers > 2)
    fail("a scalar or constant for " + std::to_string(registers) +
         " registers is not simulated");
  return scalar(encoding, type);
}

void InstructionDecoder::decodeScalar() {
  uint32_t w = words[0];
  auto destination = [&](unsigned number) {
    in.destination.kind = Operand::Kind::Sgpr;
    in.destination.index = uint16_t(number);
    if (number + std::max(registersOf(op.result), 1u) > kScalarRegisters)
      fail("its destination passes the scalar registers");
  };
  unsigned high = w >> 23;
  if (high == 0b101111101) { // SOP1
    if (op.result != ValueType::None)
      destination(bits(w, 16, 7));
    in.source[0] = scalar(bits(w, 0, 8), op.sources[0]);
  } else if (high == 0b101111110) { // SOPC
    in.source[0] = scalar(bits(w, 0, 8), op.sources[0]);
    if (std::string_view(op.name) == "s_set_gpr_idx_on")
      in.immediate = int32_t(bits(w, 8, 4)); // which operands, no register
    else
      in.source[1] = scalar(bits(w, 8, 8), op.sources[1]);
  } else if (high == 0b101111111) { // SOPP
    in.immediate = int16_t(w);
  } else if (w >> 28 == 0b1011) { // SOPK
    destination(bits(w, 16, 7));
    in.immediate = int16_t(w);
    if (wordCount > 1)
      in.immediate2 = int32_t(words[1]);
  } else { // SOP2
    destination(bits(w, 16, 7));
    in.source[0] = scalar(bits(w, 0, 8), op.sources[0]);
    in.source[1] = scalar(bits(w, 8, 8), op.sources[1]);
  }
}

// Values of the src0 field that say what the second word holds.
constexpr unsigned kSourceSdwa = 249, kSourceDpp = 250;

/// Source 1 of a 32-bit VOP word: a vector register, unless SDWA says that it
/// is a scalar one.
Operand InstructionDecoder::shortSource1() {
  const unsigned number = bits(words[0], 9, 8);
  if (bits(words[0], 0, 9) == kSourceSdwa && wordCount > 1 &&
      bits(words[1], 31, 1))
    return scalar(number, op.sources[1]);
  return vector(number, registersOf(op.sources[1]));
}

void InstructionDecoder::shortSources(bool compare) {
  unsigned src0 = bits(words[0], 0, 9);
  uint32_t w1 = wordCount > 1 ? words[1] : 0;
  if (src0 == kSourceSdwa) {
    in.isSdwa = true;
    Operand &a = in.source[0];
    a = any(bits(w1, 0, 8) + (bits(w1, 23, 1) ? 0 : 256), op.sources[0]);
    a.select = uint8_t(bits(w1, 16, 3));
    a.signExtend = bits(w1, 19, 1);
    a.negate = bits(w1, 20, 1);
    a.absolute = bits(w1, 21, 1);
    if (in.source[1].kind != Operand::Kind::None) {
      Operand &b = in.source[1];
      b.select = uint8_t(bits(w1, 24, 3));
      b.signExtend = bits(w1, 27, 1);
      b.negate = bits(w1, 28, 1);
      b.absolute = bits(w1, 29, 1);
    }
    if (compare) {
      if (bits(w1, 15, 1))
        in.scalarDestination = uint8_t(bits(w1, 8, 7));
    } else {
      in.sdwaSelect = uint8_t(bits(w1, 8, 3));
      in.sdwaUnused = uint8_t(bits(w1, 11, 2));
      in.clamp = bits(w1, 13, 1);
      in.outputModifier = uint8_t(bits(w1, 14, 2));
    }
    return;
  }
  if (src0 == kSourceDpp) {
    in.isDpp = true;
    in.dppControl = uint16_t(bits(w1, 8, 9));
    in.boundControl = bits(w1, 19, 1);
    in.bankMask = uint8_t(bits(w1, 24, 4));
    in.rowMask = uint8_t(bits(w1, 28, 4));
    in.source[0] = vector(bits(w1, 0, 8), registersOf(op.sources[0]));
    in.source[0].negate = bits(w1, 20, 1);
    in.source[0].absolute = bits(w1, 21, 1);
    in.source[1].negate = bits(w1, 22, 1);
    in.source[1].absolute = bits(w1, 23, 1);
    return;
  }
  in.source[0] = any(src0, op.sources[0]);
}

void InstructionDecoder::decodeVop1() {
  if (op.flags & kWritesScalar) {
    in.destination.kind = Operand::Kind::Sgpr;
    in.destination.index = uint16_t(bits(words[0], 17, 8));
    if (in.destination.index >= kScalarRegisters)
      fail("its destination is no scalar register");
  } else if (op.result != ValueType::None || op.flags & kSwaps) {
    in.destination = vector(bits(words[0], 17, 8), registersOf(op.result),
                            op.flags & kAccDestination);
  }
  shortSources(false);
  finishVector();
}

void InstructionDecoder::decodeVop2() {
  uint32_t w = words[0];
  in.destination = vector(bits(w, 17, 8), registersOf(op.result));
  // fmamk/fmaak and the f16 kin take a literal as a third source.
  std::string_view name = op.name;
  if (name.find("mk_f") != name.npos || name.find("ak_f") != name.npos) {
    bool literalLast = name.find("ak_f") != name.npos;
    Operand second = vector(bits(w, 9, 8), registersOf(op.sources[1]));
    in.source[0] = any(bits(w, 0, 9), op.sources[0]);
    in.source[literalLast ? 1 : 2] = second;
    in.source[literalLast ? 2 : 1] = literal(op.sources[1]);
    return finishVector();
  }
  in.source[1] = shortSource1();
  in.scalarDestination = kVcc;
  shortSources(false);
  if (op.flags & kReadsMask) {
    in.source[2].kind = Operand::Kind::Sgpr;
    in.source[2].index = kVcc;
  }
  if (op.flags & kAccumulates)
    in.source[2] = in.destination;
  finishVector();
}

void InstructionDecoder::decodeVopc() {
  in.scalarDestination = kVcc;
  in.source[1] = shortSource1();
  shortSources(true);
  finishVector();
}

void InstructionDecoder::decodeVop3() {
  uint32_t w0 = words[0], w1 = words[1];
  bool compare = std::string_view(op.name).starts_with("v_cmp");
  if (compare || op.flags & kWritesScalar) {
    in.destination.kind = Operand::Kind::Sgpr;
    in.destination.index = uint16_t(bits(w0, 0, 8));
    in.scalarDestination = uint8_t(bits(w0, 0, 8));
    if (bits(w0, 0, 8) + (compare ? 2 : 1) > kScalarRegisters)
      fail("its destination is no scalar register");
  } else if (op.result != ValueType::None || op.flags & kSwaps) {
    in.destination = vector(bits(w0, 0, 8), registersOfResult(op));
  }
  for (unsigned i = 0; i < 3; ++i)
    if (op.sources[i] != ValueType::None &&
        !(i == 2 && op.flags & kAccumulates))
      in.source[i] =
          any(bits(w1, 9 * i, 9), op.sources[i], op.sourceRegisters[i]);
  if (op.flags & kReadsMask)
    in.source[2] = scalar(bits(w1, 18, 9), ValueType::B64);
  if (op.flags & kAccumulates)
    in.source[2] = in.destination;
  if (std::string_view(op.name).starts_with("v_bitop3")) {
    // The truth table lies where abs, omod and neg are in other operations.
    in.immediate =
        int32_t(bits(w1, 27, 2) << 6 | bits(w0, 8, 3) << 3 | bits(w1, 29, 3));
    if (bits(w0, 11, 5))
      fail("op_sel and clamp of it are not simulated");
    return finishVector();
  }
  for (unsigned i = 0; i < 3; ++i)
    in.source[i].negate = bits(w1, 29 + i, 1);
  in.outputModifier = uint8_t(bits(w1, 27, 2));
  in.clamp = bits(w0, 15, 1);
  if (op.flags & kScalarDestination) {
    in.scalarDestination = uint8_t(bits(w0, 8, 7));
    if (in.scalarDestination + 2u > kScalarRegisters)
      fail("its scalar destination passes the scalar registers");
    return finishVector();
  }
  for (unsigned i = 0; i < 3; ++i)
    in.source[i].absolute = bits(w0, 8 + i, 1);
  unsigned opSel = bits(w0, 11, 4);
  if (op.flags & kRawOpSel) {
    in.immediate = int32_t(opSel);
    return finishVector();
  }
  for (unsigned i = 0; i < 3; ++i)
    if (opSel >> i & 1) {
      in.source[i].highHalf = true;
      if (op.sources[i] != ValueType::B16 && op.sources[i] != ValueType::F16)
        fail("op_sel of a source that is not 16 bits wide is not simulated");
    }
  if (opSel & 8) {
    in.highDestination = true;
    if (op.result != ValueType::B16 && op.result != ValueType::F16)
      fail("op_sel of a result that is not 16 bits wide is not simulated");
  }
  finishVector();
}

void InstructionDecoder::decodeVop3p() {
  uint32_t w0 = words[0], w1 = words[1];
  if (op.kind == InstructionClass::Mfma)
    return decodeMfma(words + (wordCount == 4 ? 2 : 0));
  in.destination = vector(bits(w0, 0, 8), registersOf(op.result),
                          op.flags & kAccDestination);
  if (op.flags & (kAccSource | kAccDestination)) { // v_accvgpr_read/write
    in.source[0] = any(bits(w1, 0, 9), op.sources[0]);
    return finishVector();
  }
  unsigned opSel = bits(w0, 11, 3);
  unsigned opSelHigh = bits(w1, 27, 2) | bits(w0, 14, 1) << 2;
  for (unsigned i = 0; i < 3; ++i) {
    if (op.sources[i] == ValueType::None)
      continue;
    Operand &s = in.source[i];
    s = any(bits(w1, 9 * i, 9), op.sources[i]);
    s.plain = false;
    s.highHalf = opSel >> i & 1;
    s.highOfHigh = opSelHigh >> i & 1;
    s.negate = bits(w1, 29 + i, 1);
    s.negateHigh = bits(w0, 8 + i, 1);
    if (op.sources[i] == ValueType::PackedF32 &&
        s.kind == Operand::Kind::Constant && (s.highHalf || s.highOfHigh))
      fail("the high half of a constant as packed f32 is not simulated");
  }
  in.clamp = bits(w0, 15, 1);
  in.plainDestination = !in.clamp;
}

void InstructionDecoder::finishVector() {
  for (unsigned i = 0; i < 3; ++i) {
    Operand &s = in.source[i];
    if (s.kind == Operand::Kind::None) {
      s.negate = s.absolute = false;
      continue;
    }
    if ((s.negate || s.absolute) && !isFloat(op.sources[i]) &&
        !(op.flags & kRawOpSel))
      fail("neg or abs of a source that is no float is not simulated");
    bool unmodified = !s.negate && !s.absolute && !s.highHalf &&
                      s.select == 6 && !(i == 0 && in.isDpp);
    s.plain = s.kind == Operand::Kind::Vgpr && unmodified;
    s.uniform = s.kind != Operand::Kind::Vgpr && unmodified;
  }
  if (in.clamp && !isFloat(op.result) && !(op.flags & kOwnClamp) &&
      op.result != ValueType::None)
    fail("clamp of an integer result is not simulated");
  if (in.outputModifier && !isFloat(op.result))
    fail("an output modifier on a result that is no float");
  in.plainDestination = !in.clamp && !in.outputModifier &&
                        !in.highDestination && !in.isDpp &&
                        in.sdwaSelect == 6 && !in.keepsOtherHalf;
}

} // namespace winnow::sim
