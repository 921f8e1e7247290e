// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LDS address: M0[17:2] * 4 + instruction offset + lane * 4, or lane * 16 for
// three and four dwords (CDNA4 ISA, "Memory Buffer Load to LDS" and "Flat
// Memory Instructions", "Addressing"). The offset counts for both addresses.
#include "LoadToLds.h"

#include "Elf.h"

namespace winnow::sim {

void loadToLds(Wave &w, const Instruction &in, unsigned size, bool isSigned,
               bool isScratch) {
  uint32_t m0 = w.sgpr[kM0];
  if (m0 % 4 || m0 >> 18)
    return w.stop(in, "M0, the LDS offset, is " + hex(m0) +
                          ": it has to be a multiple of 4 below 2^18");
  LaneAddresses addresses;
  addresses.isScratch = isScratch;
  if (!laneAddresses(w, in, size, addresses))
    return;
  uint32_t base = ldsDestinationBase(w, in);
  uint64_t exec = w.exec();
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(exec >> l & 1))
      continue;
    uint32_t words[4] = {};
    if (addresses.lanes >> l & 1) {
      unsigned bytes = in.isBuffer ? addresses.bytes[l] : size;
      const uint8_t *from =
          laneBytes(w, in, addresses, l, bytes, AccessKind::Load);
      if (!from)
        return;
      std::memcpy(words, from, bytes);
      w.group->bytesLoaded += bytes;
    }
    if (isSigned && size < 4)
      words[0] =
          uint32_t(int32_t(words[0] << (32 - 8 * size)) >> (32 - 8 * size));
    unsigned stored = ldsDestinationBytes(size);
    uint8_t *to = ldsBytes(w, in, l, ldsDestination(base, l, size), stored,
                           AccessKind::Store);
    if (!to)
      return;
    changing(w, AccessKind::Store, to, stored,
             [&] { std::memcpy(to, words, stored); });
  }
}

namespace {

/// The width of the data stands where others have their result's.
constexpr Operation row(const char *name, Handler handler, unsigned dwords) {
  Operation op{name, handler, InstructionClass::VectorLoad};
  op.sources[0] = ValueType::B32;
  op.flags = kLoadsLds;
  op.resultRegisters = uint8_t(dwords);
  return op;
}

const Operation table[] = {
    row("global_load_lds_ubyte", &loadToLds<1, false, false>, 1),
    row("global_load_lds_sbyte", &loadToLds<1, true, false>, 1),
    row("global_load_lds_ushort", &loadToLds<2, false, false>, 1),
    row("global_load_lds_sshort", &loadToLds<2, true, false>, 1),
    row("global_load_lds_dword", &loadToLds<4, false, false>, 1),
    row("global_load_lds_dwordx3", &loadToLds<12, false, false>, 3),
    row("global_load_lds_dwordx4", &loadToLds<16, false, false>, 4),
    row("scratch_load_lds_ubyte", &loadToLds<1, false, true>, 1),
    row("scratch_load_lds_sbyte", &loadToLds<1, true, true>, 1),
    row("scratch_load_lds_ushort", &loadToLds<2, false, true>, 1),
    row("scratch_load_lds_sshort", &loadToLds<2, true, true>, 1),
    row("scratch_load_lds_dword", &loadToLds<4, false, true>, 1),
};

} // namespace

std::span<const Operation> loadToLdsOperations() { return table; }

} // namespace winnow::sim
