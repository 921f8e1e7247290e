// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The only file of the simulator that includes LLVM.
#include "Disassembler.h"

#include "Elf.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>
#include <mutex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace winnow::sim {

/// Fields with reserved values, of which LLVM's AMDGPU disassembler assumes
/// that they do not occur (CDNA4 ISA, "Microcode Formats").
static bool hasValidFields(std::span<const uint8_t> bytes) {
  if (bytes.size() < 4)
    return false;
  uint32_t first = readLittle<uint32_t>(bytes.data());
  uint32_t second =
      bytes.size() < 8 ? 0 : readLittle<uint32_t>(bytes.data() + 4);
  auto field = [](uint32_t word, unsigned low, unsigned count) {
    return word >> low & ((1u << count) - 1);
  };
  bool isShortVector = !(first >> 31);
  if (isShortVector && field(first, 0, 9) == 249) { // SDWA
    bool isCompare = first >> 25 == 0x3e;
    return field(second, 16, 3) < 7 && field(second, 24, 3) < 7 &&
           (isCompare || (field(second, 8, 3) < 7 && field(second, 11, 2) < 3));
  }
  if (first >> 26 != 0b110100) // VOP3 and VOP3P
    return true;
  unsigned sources[3];
  for (unsigned i = 0; i < 3; ++i) {
    sources[i] = field(second, 9 * i, 9);
    // gfx9 has no literals, SDWA or DPP here.
    if (sources[i] == 255 || sources[i] == 249 || sources[i] == 250)
      return false;
  }
  unsigned opcode = field(first, 16, 7);
  bool isPacked = field(first, 23, 3) == 7;
  bool isAccumulatorMove = opcode == 0x58 || opcode == 0x59;
  bool isMatrix = isPacked && ((opcode >= 0x40 && !isAccumulatorMove) ||
                               opcode == 0x2d || opcode == 0x2e);
  if (!isMatrix)
    return true;
  return sources[0] >= 256 && sources[1] >= 256 && sources[2] >= 128;
}

struct Disassembler::Impl {
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembler;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;

  bool decode(std::span<const uint8_t> bytes, uint64_t address,
              llvm::MCInst &instruction, uint64_t &size) {
    if (!hasValidFields(bytes))
      return false;
    // A literal past the end is found out here, not there.
    uint8_t padded[32] = {};
    std::memcpy(padded, bytes.data(), std::min<size_t>(bytes.size(), 16));
    llvm::ArrayRef<uint8_t> view(padded, sizeof(padded));
    // LLVM writes its doubts about operands there, also where it is null.
    disassembler->CommentStream = &llvm::nulls();
    return disassembler->getInstruction(instruction, size, view, address,
                                        llvm::nulls()) ==
               llvm::MCDisassembler::Success &&
           size % 4 == 0 && size <= bytes.size() && size != 0;
  }
};

Disassembler::Disassembler() : state(std::make_unique<Impl>()) {}
Disassembler::~Disassembler() = default;

Result<std::unique_ptr<Disassembler>> Disassembler::create() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  std::unique_ptr<Disassembler> made(new Disassembler);
  Impl &s = *made->state;
  llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string problem;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target)
    return Error{"disassembler: LLVM has no AMDGPU target: " + problem};
  s.registers.reset(target->createMCRegInfo(triple));
  s.assembler.reset(target->createMCAsmInfo(*s.registers, triple, s.options));
  s.instructions.reset(target->createMCInstrInfo());
  s.subtarget.reset(target->createMCSubtargetInfo(triple, "gfx950", ""));
  if (!s.registers || !s.assembler || !s.instructions || !s.subtarget)
    return Error{"disassembler: LLVM's AMDGPU target lacks gfx950"};
  s.context = std::make_unique<llvm::MCContext>(
      triple, s.assembler.get(), s.registers.get(), s.subtarget.get());
  s.disassembler.reset(target->createMCDisassembler(*s.subtarget, *s.context));
  s.printer.reset(target->createMCInstPrinter(triple, 0, *s.assembler,
                                              *s.instructions, *s.registers));
  if (!s.disassembler || !s.printer)
    return Error{"disassembler: LLVM's AMDGPU target has no disassembler"};
  return made;
}

Disassembler::Decoded Disassembler::decode(std::span<const uint8_t> bytes,
                                           uint64_t address) {
  llvm::MCInst instruction;
  uint64_t size = 0;
  if (!state->decode(bytes, address, instruction, size))
    return {};
  std::string_view name = state->printer->getMnemonic(instruction).first;
  size_t begin = name.find_first_not_of(" \t");
  if (begin == name.npos)
    return {};
  size_t end = name.find_first_of(" \t", begin);
  return {unsigned(size), name.substr(begin, end - begin)};
}

std::string Disassembler::text(std::span<const uint8_t> bytes,
                               uint64_t address) {
  llvm::MCInst instruction;
  uint64_t size = 0;
  if (!state->decode(bytes, address, instruction, size))
    return bytes.size() < 4
               ? std::string("<no instruction>")
               : "<no instruction: " + hex(readLittle<uint32_t>(bytes.data())) +
                     ">";
  std::string text;
  llvm::raw_string_ostream out(text);
  state->printer->printInst(&instruction, address, "", *state->subtarget, out);
  size_t begin = text.find_first_not_of(" \t");
  text = begin == text.npos ? "" : text.substr(begin);
  for (char &c : text)
    if (c == '\t')
      c = ' ';
  return text;
}

} // namespace winnow::sim
