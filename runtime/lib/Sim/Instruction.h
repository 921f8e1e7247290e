// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decoded instruction: everything that its handler needs, resolved once, so
// that execution neither looks at encodings nor at names.
#ifndef WINNOW_SIM_INSTRUCTION_H
#define WINNOW_SIM_INSTRUCTION_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace winnow::sim {

struct Wave;
struct Instruction;
struct Operation;
using Handler = void (*)(Wave &, const Instruction &);

enum class InstructionClass : uint8_t {
  Valu,
  Salu,
  ScalarMemory,
  VectorLoad,
  VectorStore,
  VectorAtomic,
  Lds,
  Mfma,
  Branch,
  Wait,
  Count
};

/// How an operand's bits are read; it decides how many registers it takes, how
/// inline constants expand, and what the abs/neg/clamp modifiers mean.
enum class ValueType : uint8_t {
  None,
  B32,
  F32,
  B64,
  F64,
  B16,
  F16,
  /// Two 16-bit halves of one register.
  PackedB16,
  PackedF16,
  /// Two f32 in a register pair.
  PackedF32,
};

constexpr bool isFloat(ValueType t) {
  return t == ValueType::F32 || t == ValueType::F64 || t == ValueType::F16 ||
         t == ValueType::PackedF16 || t == ValueType::PackedF32;
}
constexpr unsigned registersOf(ValueType t) {
  switch (t) {
  case ValueType::None:
    return 0;
  case ValueType::B64:
  case ValueType::F64:
  case ValueType::PackedF32:
    return 2;
  default:
    return 1;
  }
}

struct Operand {
  enum class Kind : uint8_t { None, Vgpr, Sgpr, Constant, Vccz, Execz, Scc };
  Kind kind = Kind::None;
  /// A whole vector register read as it is: no modifier, DPP or SDWA select.
  bool plain = false;
  /// A scalar or constant that all lanes read as it is.
  bool uniform = false;
  bool negate = false;
  bool absolute = false;
  bool signExtend = false;
  /// VOP3 op_sel: the high half of a 16-bit operand.
  bool highHalf = false;
  /// VOP3P: what the high lane reads (op_sel_hi) and its negation (neg_hi).
  bool highOfHigh = false;
  bool negateHigh = false;
  /// SDWA select: 0-3 bytes, 4-5 words, 6 the whole register.
  uint8_t select = 6;
  /// Row of the vector register file, or scalar register number.
  uint16_t index = 0;
  /// Constants, already expanded to the operand's type.
  uint64_t value = 0;
};

struct Instruction {
  Handler handler = nullptr;
  /// Its table row; null when it is not simulated.
  const Operation *operation = nullptr;
  /// Address in the code object (not yet relocated).
  uint64_t address = 0;
  uint8_t size = 0;
  InstructionClass kind = InstructionClass::Salu;
  bool plainDestination = true;
  bool clamp = false;
  uint8_t outputModifier = 0;
  /// VOP3 op_sel for the destination: write the high half.
  bool highDestination = false;
  /// 16-bit results of this operation leave the other half alone.
  bool keepsOtherHalf = false;
  bool isDpp = false;
  bool isSdwa = false;
  bool boundControl = false;
  uint16_t dppControl = 0;
  uint8_t rowMask = 15;
  uint8_t bankMask = 15;
  uint8_t sdwaSelect = 6;
  uint8_t sdwaUnused = 0;
  /// Data registers of a memory operation, or type bits of an MFMA.
  uint8_t cbsz = 0;
  uint8_t abid = 0;
  uint8_t blgp = 0;
  /// Memory operations that return the value from before (sc0 of an atomic).
  bool returnsValue = false;
  /// Buffer memory: source 2 is the first of the four descriptor registers,
  /// source 0 the index, when there is one, and the offset after it; scale[0]
  /// is the scalar offset.
  bool isBuffer = false;
  bool usesIndex = false;
  bool usesOffset = false;
  /// Data goes to LDS, at M0.
  bool loadsLds = false;
  ValueType sourceType[3] = {};
  ValueType resultType = ValueType::None;
  Operand destination;
  /// Scalar destination of VOP3B, VOPC and the carry operations.
  uint8_t scalarDestination = 0;
  Operand source[3];
  /// Block scales of an MFMA, with their byte in `select`.
  Operand scale[2];
  /// simm16, memory offset, wait counts.
  int32_t immediate = 0;
  int32_t immediate2 = 0;
  /// Branch target as an index into the program, or -1.
  int32_t target = -1;
  /// Why it stops when it is reached, as an index into Program::reasons.
  int32_t reason = -1;
};

/// The decoded instructions of a kernel and of the functions that it may call.
struct Program {
  std::vector<Instruction> instructions;
  /// Text of instructions that are not simulated or not valid.
  std::vector<std::string> reasons;
  /// Address ranges that were decoded, with where each begins.
  struct Range {
    uint64_t begin = 0, end = 0;
    /// Instruction index of each dword, or -1 inside an instruction.
    std::vector<int32_t> indexOfDword;
  };
  std::vector<Range> ranges;
  int32_t entry = -1;

  /// The instruction at that code object address, or -1.
  int32_t find(uint64_t address) const {
    for (const Range &range : ranges)
      if (address >= range.begin && address < range.end && address % 4 == 0)
        return range.indexOfDword[(address - range.begin) / 4];
    return -1;
  }
};

/// What the tables of the instruction classes hold: a mnemonic (without its
/// encoding suffix), who executes it, and how its operands are read.
struct Operation {
  const char *name;
  Handler handler;
  InstructionClass kind;
  ValueType result = ValueType::None;
  ValueType sources[3] = {ValueType::None, ValueType::None, ValueType::None};
  uint32_t flags = 0;
  /// Memory operations: registers of data moved. MFMA: see Mfma.cpp.
  uint8_t dataRegisters = 0;
  /// Vector ALU: registers of a result wider than its type says.
  uint8_t resultRegisters = 0;
  /// Vector ALU: registers of sources that are wider than their type says.
  uint8_t sourceRegisters[3] = {0, 0, 0};
};

/// Registers of a vector operation's operands.
constexpr unsigned registersOfSource(const Operation &op, unsigned which) {
  return op.sourceRegisters[which] ? op.sourceRegisters[which]
                                   : registersOf(op.sources[which]);
}
constexpr unsigned registersOfResult(const Operation &op) {
  return op.kind == InstructionClass::Valu && op.resultRegisters
             ? op.resultRegisters
             : registersOf(op.result);
}

enum OperationFlags : uint32_t {
  /// VOP3 form has a scalar destination (VOP3B).
  kScalarDestination = 1 << 0,
  /// Reads the carry or selection mask: VCC in the short forms, else src2.
  kReadsMask = 1 << 1,
  /// Third source is the destination (fmac, dot*c).
  kAccumulates = 1 << 2,
  /// Vector instruction whose destination is a scalar register.
  kWritesScalar = 1 << 3,
  kKeepsOtherHalf = 1 << 4,
  /// Source or destination in the accumulation registers, by opcode.
  kAccSource = 1 << 5,
  kAccDestination = 1 << 6,
  /// Packed (VOP3P) modifiers apply.
  kPacked = 1 << 7,
  /// VOP3P with per-operand f16/f32 choice (v_fma_mix*).
  kMixed = 1 << 8,
  /// op_sel of the VOP3 form selects bytes, halves or rows; handler reads
  /// `immediate`.
  kRawOpSel = 1 << 9,
  /// Both operands are read and written (swaps).
  kSwaps = 1 << 10,
  /// Integer operation that implements the clamp bit itself.
  kOwnClamp = 1 << 11,
  /// Memory operation whose data goes to LDS instead of registers.
  kLoadsLds = 1 << 12,
  /// Matrix operation whose third source holds the indices of a compressed A;
  /// it adds to its destination.
  kSparse = 1 << 13,
};

/// The instructions of one unit, with the unit's name for the documentation.
struct OperationTable {
  const char *title;
  std::span<const Operation> operations;
};
std::span<const OperationTable> operationTables();

std::span<const Operation> scalarOperations();
std::span<const Operation> scalarIndexOperations();
std::span<const Operation> programOperations();
std::span<const Operation> scalarMemoryOperations();
std::span<const Operation> scalarStoreOperations();
std::span<const Operation> vectorFloatOperations();
std::span<const Operation> vectorHalfOperations();
std::span<const Operation> vectorHalfFunctionOperations();
std::span<const Operation> vectorIntegerOperations();
std::span<const Operation> vectorByteOperations();
std::span<const Operation> vectorConvertOperations();
std::span<const Operation> vectorScaledOperations();
std::span<const Operation> vectorPackedOperations();
std::span<const Operation> vectorDotOperations();
std::span<const Operation> vectorCompareOperations();
std::span<const Operation> crossLaneOperations();
std::span<const Operation> ldsOperations();
std::span<const Operation> ldsExchangeOperations();
std::span<const Operation> globalMemoryOperations();
std::span<const Operation> bufferMemoryOperations();
std::span<const Operation> loadToLdsOperations();
std::span<const Operation> atomicOperations();
std::span<const Operation> mfmaOperations();
std::span<const Operation> mfmaDoubleOperations();
std::span<const Operation> mfmaCompressedOperations();

} // namespace winnow::sim

#endif // WINNOW_SIM_INSTRUCTION_H
