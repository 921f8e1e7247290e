// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which bytes of LDS a load to LDS is still to write. Such a load is done when
// the wave has waited for vmcnt; other waves may use its data after a barrier
// that follows the wait.
#ifndef WINNOW_SIM_LDSTRANSFERS_H
#define WINNOW_SIM_LDSTRANSFERS_H

#include "RegisterWatch.h"

#include <string>
#include <vector>

namespace winnow::sim {

class LdsTransfers {
public:
  void start(size_t bytes, size_t waves);
  /// The newest vector memory operation of the wave is to write these bytes.
  void issue(unsigned wave, uint32_t address, unsigned size,
             const RegisterWatch &watch);
  void passBarrier(const std::vector<RegisterWatch> &waves);
  bool any() const { return isUsed; }

  /// What is wrong with an access by `wave`, or "".
  std::string conflict(unsigned wave, uint32_t address, unsigned size,
                       unsigned lane,
                       const std::vector<RegisterWatch> &waves) const;

private:
  struct Byte {
    uint32_t operation = 0; // 0: none
    uint8_t wave = 0;
  };
  struct AtBarrier {
    uint32_t issued = 0, done = 0;
  };
  std::vector<Byte> bytes;
  std::vector<AtBarrier> barrier;
  bool isUsed = false;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_LDSTRANSFERS_H
