// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Effects from a decoded instruction and its table row.
#include "Effects.h"

#include <algorithm>
#include <cctype>

namespace winnow::sim {
namespace {

class EffectsBuilder {
public:
  EffectsBuilder(const Instruction &in, uint32_t firstWord)
      : in(in), op(*in.operation), name(op.name), firstWord(firstWord) {}

  Effects run() {
    switch (in.kind) {
    case InstructionClass::VectorLoad:
    case InstructionClass::VectorStore:
    case InstructionClass::VectorAtomic:
      vectorMemory();
      break;
    case InstructionClass::Lds:
      lds();
      break;
    case InstructionClass::ScalarMemory:
      scalarMemory();
      break;
    case InstructionClass::Mfma:
      matrix();
      break;
    default:
      other();
    }
    return out;
  }

private:
  bool has(std::string_view part) const { return name.find(part) != name.npos; }

  void add(const Operand &operand, unsigned count, bool isWritten = false) {
    bool isVector = operand.kind == Operand::Kind::Vgpr;
    if ((!isVector && operand.kind != Operand::Kind::Sgpr) ||
        out.registerCount == out.registers.size())
      return;
    out.registers[out.registerCount++] = {
        operand.index, uint8_t(std::max(count, 1u)), isVector, isWritten};
  }

  static AccessKind accessOf(InstructionClass kind) {
    return kind == InstructionClass::VectorLoad    ? AccessKind::Load
           : kind == InstructionClass::VectorStore ? AccessKind::Store
                                                   : AccessKind::Atomic;
  }

  void vectorMemory() {
    bool isScratch = name.starts_with("scratch_");
    bool isFlat = name.starts_with("flat_");
    bool hasBase = in.source[2].kind != Operand::Kind::None;
    out.loadsLds = in.loadsLds;
    out.space = isScratch ? Space::Scratch
                : isFlat  ? Space::Flat
                          : Space::Global;
    out.access = accessOf(in.kind);
    if (in.kind == InstructionClass::VectorAtomic)
      out.bytes = uint8_t(4 * op.resultRegisters);
    else if (has("byte"))
      out.bytes = 1;
    else if (has("short"))
      out.bytes = 2;
    else
      out.bytes =
          uint8_t(4 * std::max(op.dataRegisters, op.resultRegisters)); // dwords
    add(in.source[0], in.isBuffer            ? in.usesIndex + in.usesOffset
                      : isScratch || hasBase ? 1
                                             : 2);
    add(in.source[1], op.dataRegisters);
    add(in.source[2], in.isBuffer ? 4 : isScratch ? 1 : 2);
    if (in.isBuffer)
      add(in.scale[0], 1);
    add(in.destination, op.resultRegisters, true);
    // SC1 of the gfx940 encodings: the scope is the device or the system; SC0
    // alone: the workgroup (LLVM AMDGPUUsage, "Memory Model GFX942").
    out.isCoherent = firstWord >> (in.isBuffer ? 15 : 25) & 1;
    out.isCoherentInGroup = firstWord >> (in.isBuffer ? 14 : 16) & 1;
    out.countsVm = true;
    out.countsLgkm = out.isUnordered = isFlat;
  }

  void lds() {
    add(in.source[0], 1);
    add(in.source[1], op.dataRegisters);
    add(in.source[2], op.dataRegisters);
    add(in.destination, op.resultRegisters, true);
    out.countsLgkm = name != "ds_nop";
    if (has("permute") || has("swizzle") || name == "ds_nop")
      return;
    out.space = Space::Lds;
    out.ldsAddress = has("addtid") ? Effects::LdsAddress::Lane
                     : name == "ds_append" || name == "ds_consume"
                         ? Effects::LdsAddress::Wave
                         : Effects::LdsAddress::Register;
    out.access = name.starts_with("ds_read")    ? AccessKind::Load
                 : name.starts_with("ds_write") ? AccessKind::Store
                                                : AccessKind::Atomic;
    if (out.ldsAddress == Effects::LdsAddress::Wave)
      out.bytes = 4;
    else if (out.access == AccessKind::Atomic)
      out.bytes = uint8_t(4 * op.dataRegisters);
    else if (has("_tr_"))
      out.bytes = uint8_t(4 * op.resultRegisters);
    else if (has("_b8") || has("_u8") || has("_i8"))
      out.bytes = 1;
    else if (has("_b16") || has("_u16") || has("_i16"))
      out.bytes = 2;
    else
      out.bytes = uint8_t(4 * std::max(op.dataRegisters, op.resultRegisters));
    out.isHighHalf = has("_d16_hi");
    out.offsets[0] = uint32_t(in.immediate | in.immediate2 << 8);
    if (has("read2") || has("write2") || has("xchg2")) {
      out.accesses = 2;
      out.bytes = has("_b64") ? 8 : 4;
      uint32_t step = out.bytes * (has("st64") ? 64u : 1u);
      out.offsets[0] = uint32_t(in.immediate) * step;
      out.offsets[1] = uint32_t(in.immediate2) * step;
    }
  }

  void scalarMemory() {
    add(in.source[0], in.isBuffer ? 4 : 2);
    add(in.source[1], 1);
    const bool isAtomic = has("_atomic_");
    add(in.source[2], op.dataRegisters);
    add(in.destination, isAtomic ? op.resultRegisters : op.dataRegisters, true);
    out.countsLgkm = out.isUnordered = true;
    if (!isAtomic && !has("_load_") && !has("_store_"))
      return; // the clock
    out.space = Space::Scalar;
    out.bytes = uint8_t(4 * (isAtomic ? op.resultRegisters : op.dataRegisters));
    out.access = isAtomic         ? AccessKind::Atomic
                 : has("_store_") ? AccessKind::Store
                                  : AccessKind::Load;
  }

  void matrix() {
    bool isF8f6f4 = name.ends_with("f8f6f4");
    auto formatRegisters = [](unsigned format) {
      return format < 2 ? 8u : format < 4 ? 6u : 4u;
    };
    add(in.source[0], isF8f6f4 ? formatRegisters(in.cbsz) : op.dataRegisters);
    bool isSparse = op.flags & kSparse;
    add(in.source[1], isF8f6f4   ? formatRegisters(in.blgp)
                      : isSparse ? 2u * op.dataRegisters
                                 : op.dataRegisters);
    add(in.source[2], isSparse ? 1 : op.resultRegisters);
    if (isSparse)
      add(in.destination, op.resultRegisters);
    add(in.scale[0], 1);
    add(in.scale[1], 1);
    add(in.destination, op.resultRegisters, true);
    shape(isF8f6f4);
  }

  /// "MxNxK" in the name, with "_Bb" when there are several blocks.
  void shape(bool isF8f6f4) {
    size_t at = name.find('x');
    while (at > 0 && std::isdigit(name[at - 1]))
      --at;
    unsigned numbers[3] = {}, blocks = 1;
    for (unsigned &number : numbers) {
      while (at < name.size() && std::isdigit(name[at]))
        number = number * 10 + unsigned(name[at++] - '0');
      ++at; // 'x', or '_' after the last one
    }
    size_t end = at;
    unsigned count = 0;
    while (end < name.size() && std::isdigit(name[end]))
      count = count * 10 + unsigned(name[end++] - '0');
    if (count && end < name.size() && name[end] == 'b')
      blocks = count;
    auto [m, n, k] = numbers;
    out.products = m * n * k * blocks / (op.flags & kSparse ? 2 : 1);
    // Passes as the ISA's matrix instructions list them and LLVM's scheduling
    // model of gfx950 has them.
    if (isF8f6f4) {
      bool isEight = in.cbsz < 2 || in.blgp < 2;
      out.passes = uint8_t((m == 32 ? 8 : 4) * (isEight ? 2 : 1));
    } else if (has("f64")) {
      out.passes = m == 16 ? 16 : 4;
    } else if (m == 4) {
      out.passes = 2;
    } else if (has("_f32_32x32x2_f32") || blocks > 1) {
      out.passes = m == 32 ? 16 : 8;
    } else if (has("_f32_16x16x4_f32")) {
      out.passes = 8;
    } else {
      out.passes = m == 32 ? 8 : 4;
    }
    out.cycles = uint16_t(4 * out.passes);
  }

  void other() {
    const bool isVector = in.kind == InstructionClass::Valu;
    for (unsigned i = 0; i < 3; ++i) {
      unsigned count = registersOfSource(op, i);
      if (i == 2 && op.flags & kReadsMask)
        count = 2;
      if (i == 2 && op.flags & kAccumulates)
        count = registersOf(in.resultType);
      add(in.source[i], count);
    }
    if (op.flags & kSwaps) {
      add(in.source[0], 1, true);
      add(in.destination, 1);
    }
    add(in.destination, registersOfResult(op), true);
    if (isVector &&
        (name.starts_with("v_cmp") || op.flags & kScalarDestination))
      if (in.scalarDestination + 1 < 128) {
        Operand mask;
        mask.kind = Operand::Kind::Sgpr;
        mask.index = in.scalarDestination;
        add(mask, 2, true);
      }
    // Their SC1: not for the compute unit alone (LLVM AMDGPUUsage, "Memory
    // Model GFX942").
    if (name == "buffer_wbl2")
      out.isDeviceRelease = firstWord >> 15 & 1;
    if (name == "buffer_inv")
      out.isDeviceAcquire = firstWord >> 15 & 1;
    if (name == "s_waitcnt") {
      uint32_t bits = uint32_t(in.immediate);
      out.isWait = true;
      out.waitVm = uint8_t((bits & 15) | (bits >> 14 & 3) << 4);
      out.waitLgkm = uint8_t(bits >> 8 & 15);
    }
    out.isBarrier = name == "s_barrier";
    if (name == "s_nop")
      out.cycles = uint16_t(4 * ((in.immediate & 15) + 1));
    // A quarter of the lanes a clock for the rest of these.
    static constexpr std::string_view slow[] = {
        "v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"};
    bool isSlow = false;
    for (std::string_view prefix : slow)
      isSlow |= name.starts_with(prefix);
    if (isVector && isSlow)
      out.cycles = 16;
  }

  const Instruction &in;
  const Operation &op;
  std::string_view name;
  uint32_t firstWord;
  Effects out;
};

} // namespace

Effects effectsOf(const Instruction &in, uint32_t firstWord) {
  return EffectsBuilder(in, firstWord).run();
}

std::vector<Effects> effectsOf(const Program &program,
                               const CodeObject::Impl &object) {
  std::vector<Effects> all;
  all.reserve(program.instructions.size());
  for (const Instruction &in : program.instructions) {
    if (!in.operation || in.reason >= 0) {
      all.emplace_back();
      continue;
    }
    std::span<const uint8_t> bytes = object.at(in.address, 4);
    uint32_t word = bytes.size() < 4 ? 0 : readLittle<uint32_t>(bytes.data());
    all.push_back(effectsOf(in, word));
  }
  return all;
}

} // namespace winnow::sim
