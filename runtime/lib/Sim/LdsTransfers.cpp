// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads to LDS by the numbers of the vector memory operations.
#include "LdsTransfers.h"

#include "Elf.h"

namespace winnow::sim {

void LdsTransfers::start(size_t size, size_t waves) {
  bytes.assign(size, {});
  barrier.assign(waves, {});
  isUsed = false;
}

void LdsTransfers::issue(unsigned wave, uint32_t address, unsigned size,
                         const RegisterWatch &watch) {
  if (size > bytes.size() || address > bytes.size() - size)
    return;
  isUsed = true;
  for (uint32_t at = address; at < address + size; ++at)
    bytes[at] = {watch.issuedVector(), uint8_t(wave)};
}

void LdsTransfers::passBarrier(const std::vector<RegisterWatch> &waves) {
  for (size_t i = 0; i < waves.size() && i < barrier.size(); ++i)
    barrier[i] = {waves[i].issuedVector(), waves[i].doneVector()};
}

std::string
LdsTransfers::conflict(unsigned wave, uint32_t address, unsigned size,
                       unsigned lane,
                       const std::vector<RegisterWatch> &waves) const {
  if (size > bytes.size() || address > bytes.size() - size)
    return {};
  for (uint32_t at = address; at < address + size; ++at) {
    const Byte &b = bytes[at];
    std::string place = "LDS byte " + hex(at) + ", which lane " +
                        std::to_string(lane) +
                        " uses, is still to be written by a load to LDS of ";
    if (b.wave == wave && b.operation > waves[wave].doneVector())
      return place + "this wave: an s_waitcnt vmcnt is missing";
    // Without a barrier in between it is a race, which has its own check.
    if (b.wave != wave && b.operation > barrier[b.wave].done &&
        b.operation <= barrier[b.wave].issued)
      return place + "wave " + std::to_string(b.wave) +
             ": an s_waitcnt vmcnt is missing before the barrier";
  }
  return {};
}

} // namespace winnow::sim
