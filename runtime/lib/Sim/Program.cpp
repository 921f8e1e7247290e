// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over a kernel's machine code into a Program. What is not simulated
// becomes an instruction that stops with its reason when it is reached, so that
// dead or padding bytes do no harm.
#include "CodeObjectImpl.h"
#include "Decoder.h"
#include "InstructionSet.h"
#include "Wave.h"

namespace winnow::sim {

namespace {

void stopAtReason(Wave &w, const Instruction &in) {
  w.stop(in, w.group->program->reasons[in.reason]);
}

class ProgramBuilder {
public:
  ProgramBuilder(const CodeObject::Impl &object, const Kernel &kernel,
                 Disassembler &disassembler)
      : object(object), kernel(kernel), disassembler(disassembler),
        program(std::make_unique<Program>()) {
    limits.rows = kernel.descriptor.vectorRegisters();
    limits.accumOffset = kernel.descriptor.accumOffset();
  }

  std::unique_ptr<Program> run() {
    addRange(kernel.entry, kernel.end);
    for (auto [begin, end] : object.functions)
      if (program->find(begin) < 0)
        addRange(begin, end);
    resolveBranches();
    program->entry = program->find(kernel.entry);
    // With kernarg preload, code for older firmware fills the first 256 bytes;
    // hardware that preloads starts after it (LLVM AMDGPUUsage, "Preloaded
    // Kernel Arguments").
    if (kernel.descriptor.preloadLength())
      program->entry = program->find(kernel.entry + 256);
    return std::move(program);
  }

private:
  void addRange(uint64_t begin, uint64_t end) {
    std::span<const uint8_t> bytes = object.at(begin, end - begin);
    if (bytes.size() < 4)
      return;
    Program::Range range;
    range.begin = begin;
    range.end = begin + bytes.size() / 4 * 4;
    range.indexOfDword.assign(bytes.size() / 4, -1);
    for (uint64_t at = 0; at + 4 <= bytes.size();) {
      range.indexOfDword[at / 4] = int32_t(program->instructions.size());
      at +=
          decodeOne(bytes.subspan(at, std::min<size_t>(16, bytes.size() - at)),
                    begin + at);
    }
    Instruction past;
    past.address = range.end;
    stopLater(past, "execution ran past the end of the code");
    program->ranges.push_back(std::move(range));
  }

  unsigned decodeOne(std::span<const uint8_t> bytes, uint64_t address) {
    Instruction in;
    in.address = address;
    Disassembler::Decoded decoded = disassembler.decode(bytes, address);
    if (!decoded.size) {
      in.size = 4;
      stopLater(in, "it is not an instruction of gfx950");
      return 4;
    }
    in.size = uint8_t(decoded.size);
    const Operation *op = findOperation(withoutEncoding(decoded.mnemonic));
    if (!op) {
      stopLater(in, "the simulator does not know this instruction");
      return decoded.size;
    }
    uint32_t words[4] = {};
    for (unsigned i = 0; i < decoded.size / 4; ++i)
      words[i] = readLittle<uint32_t>(bytes.data() + 4 * i);
    InstructionDecoder decoder(*op, words, decoded.size / 4, limits, in);
    if (std::optional<std::string> problem = decoder.run())
      stopLater(in, *problem);
    else
      program->instructions.push_back(in);
    return decoded.size;
  }

  void stopLater(Instruction &in, std::string why) {
    in.handler = stopAtReason;
    in.reason = int32_t(program->reasons.size());
    program->reasons.push_back(std::move(why));
    program->instructions.push_back(in);
  }

  /// SOPP and SOPK branches count dwords from the next instruction.
  void resolveBranches() {
    for (Instruction &in : program->instructions)
      if (in.kind == InstructionClass::Branch)
        in.target = program->find(in.address + 4 + int64_t(in.immediate) * 4);
  }

  const CodeObject::Impl &object;
  const Kernel &kernel;
  Disassembler &disassembler;
  RegisterLimits limits;
  std::unique_ptr<Program> program;
};

} // namespace

std::unique_ptr<Program> decodeProgram(const CodeObject::Impl &object,
                                       const Kernel &kernel,
                                       Disassembler &disassembler) {
  return ProgramBuilder(object, kernel, disassembler).run();
}

} // namespace winnow::sim
