// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which instructions gfx950 has, by asking LLVM's disassembler for every opcode
// of every encoding: its tables know what the processor's features allow.
#include "InstructionSet.h"

#include "winnow/Sim/Instructions.h"

#include "Disassembler.h"

#include <cstring>
#include <vector>

namespace winnow::sim {
namespace {

/// One opcode field of an encoding (CDNA4 ISA, "Microcode Formats"), and the
/// words after its first: LLVM decodes nothing whose unused fields are not
/// zero, so that several sets of operands have to be tried.
struct Encoding {
  uint32_t first;
  unsigned opcodeAt, opcodeBits;
  std::vector<uint32_t> second;
};

// v2 and s2 as 9-bit sources, and the values that say what follows.
constexpr uint32_t kVector = 0x102, kScalar = 2, kSdwa = 249, kDpp = 250;
constexpr uint32_t sources(uint32_t a, uint32_t b, uint32_t c) {
  return a | b << 9 | c << 18;
}

std::vector<Encoding> encodings() {
  const std::vector<uint32_t> none = {0};
  const std::vector<uint32_t> three = {sources(kVector, kVector, kVector),
                                       sources(kVector, kVector, 0),
                                       sources(kVector, 0, 0),
                                       sources(kVector, kScalar, kScalar),
                                       sources(kVector, kScalar, 0),
                                       sources(kScalar, kScalar, kScalar),
                                       sources(kScalar, kScalar, 0),
                                       0};
  // Address, first data, second data and result, each there or not.
  std::vector<uint32_t> registers;
  for (uint32_t mask = 0; mask < 16; ++mask)
    for (uint32_t base : {0u, 0x7f0000u})
      registers.push_back((mask & 1 ? 2u : 0) | (mask & 2 ? 2u << 8 : 0) |
                          (mask & 4 ? 2u << 16 : 0) |
                          (mask & 8 ? 2u << 24 : 0) | base);
  const std::vector<uint32_t> buffer = {0x80000202, 0x80000002, 0x80000000};
  std::vector<Encoding> all = {
      {0x80000000, 23, 7, none},                 // SOP2
      {0xb0000000, 23, 5, none},                 // SOPK
      {0xbe800000, 8, 8, none},                  // SOP1
      {0xbf000000, 16, 7, none},                 // SOPC
      {0xbf800000, 16, 7, none},                 // SOPP
      {0xc0000000, 18, 8, none},                 // SMEM
      {0xc0020000, 18, 8, none},                 // SMEM
      {0x7e000000 | kVector, 9, 8, none},        // VOP1
      {0x7e000000 | kSdwa, 9, 8, {0x06060602}},  //
      {0x7e000000 | kDpp, 9, 8, {0xff00e402}},   //
      {0x00000000 | kVector, 25, 6, none},       // VOP2
      {0x00000000 | kSdwa, 25, 6, {0x06060602}}, //
      {0x00000000 | kDpp, 25, 6, {0xff00e402}},  //
      {0x7c000000 | kVector, 17, 8, none},       // VOPC
      {0x7c000000 | kSdwa, 17, 8, {0x06060602}}, //
      {0xd0000002, 16, 10, three},               // VOP3 and VOP3P
      {0xd8000000, 17, 8, registers},            // DS
      {0xd8010000, 17, 8, registers},            // the same with gds
      {0xdc000000, 18, 7, registers},            // FLAT
      {0xdc006000, 18, 7, registers},            // scratch with an address
      {0xdc008000, 18, 7, registers},            // global
      {0xe0000000, 18, 7, buffer},               // MUBUF
      {0xe0010000, 18, 7, buffer},               // the same with lds
      {0xe8000000, 15, 4, buffer}};              // MTBUF
  return all;
}

/// Matrix instructions with scales are two VOP3P words in one.
constexpr uint32_t kScaled[][4] = {
    {0xd3ac0000, sources(kVector, kVector, 0), 0xd3ad0802,
     sources(kVector, kVector, kVector)},
    {0xd3ac0000, sources(kVector, kVector, 0), 0xd3ae0802,
     sources(kVector, kVector, kVector)}};

} // namespace

std::string_view withoutEncoding(std::string_view name) {
  for (std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  return name;
}

std::set<std::string> instructionSet() {
  std::set<std::string> names;
  auto disassembler = Disassembler::create();
  if (!disassembler)
    return names;
  auto add = [&](const uint32_t (&words)[4]) {
    uint8_t bytes[16];
    std::memcpy(bytes, words, sizeof(bytes));
    Disassembler::Decoded decoded = (*disassembler)->decode(bytes, 0);
    if (decoded.size)
      names.emplace(withoutEncoding(decoded.mnemonic));
  };
  for (const Encoding &e : encodings())
    for (uint32_t op = 0; op < 1u << e.opcodeBits; ++op)
      for (uint32_t second : e.second)
        add({e.first | op << e.opcodeAt, second, 0, 0});
  for (const auto &words : kScaled)
    add(words);
  return names;
}

} // namespace winnow::sim
