// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fields of the gfx9 encodings (CDNA4 ISA, "Microcode Formats") turned into
// operands. Names and sizes come from LLVM's disassembler, fields from here.
#ifndef WINNOW_SIM_DECODER_H
#define WINNOW_SIM_DECODER_H

#include "Instruction.h"

#include <cstdint>
#include <optional>
#include <string>

namespace winnow::sim {

/// Rows of the vector register file that a kernel owns.
struct RegisterLimits {
  unsigned rows = 0;
  unsigned accumOffset = 0;
};

class InstructionDecoder {
public:
  InstructionDecoder(const Operation &operation, const uint32_t *words,
                     unsigned wordCount, RegisterLimits limits,
                     Instruction &out);

  /// Why the instruction cannot be simulated, if so.
  std::optional<std::string> run();

private:
  struct Failure {
    std::string what;
  };

  void decode();
  void decodeScalar();
  void decodeScalarMemory();
  void decodeVop1();
  void decodeVop2();
  void decodeVopc();
  void decodeVop3();
  void decodeVop3p();
  void decodeMfma(const uint32_t *pair);
  void decodeLds();
  void decodeFlat();
  void decodeBuffer();
  /// Source 0 and what follows a 32-bit VOP word: literal, SDWA or DPP.
  void shortSources(bool compare);
  Operand shortSource1();
  void finishVector();

  void fail(std::string what);
  Operand scalar(unsigned encoding, ValueType type);
  /// `registers` when the operand is wider than its type says.
  Operand any(unsigned encoding, ValueType type, unsigned registers = 0);
  Operand vector(unsigned number, unsigned count, bool acc = false);
  Operand constant(uint64_t bits) const;
  Operand inlineInteger(int64_t value, ValueType type) const;
  Operand inlineFloat(unsigned encoding, ValueType type);
  Operand literal(ValueType type);
  unsigned literalWord();

  static unsigned bits(uint32_t word, unsigned low, unsigned count) {
    return word >> low & ((1u << count) - 1);
  }

  const Operation &op;
  const uint32_t *words;
  unsigned wordCount;
  RegisterLimits limits;
  Instruction &in;
  std::optional<Failure> failure;
};

/// The operation of that mnemonic (encoding suffix stripped), or null.
const Operation *findOperation(std::string_view name);

} // namespace winnow::sim

#endif // WINNOW_SIM_DECODER_H
