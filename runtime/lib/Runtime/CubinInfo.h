// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a cubin, NVIDIA's code object, says of itself.
#ifndef WINNOW_LIB_RUNTIME_CUBININFO_H
#define WINNOW_LIB_RUNTIME_CUBININFO_H

#include "CodeObjectInfo.h"

namespace winnow::runtime {

/// Of one kernel argument, in the buffer that a launch copies.
struct CubinParameter {
  uint32_t offset = 0, bytes = 0;
  bool operator==(const CubinParameter &) const = default;
};

/// As readCodeObject, for `arch` "sm_90" and its like. The bytes of local
/// memory that a kernel reports include what CUDA keeps for itself (1 KiB from
/// sm_90 on).
Result<CodeObjectInfo> readCubin(std::span<const std::byte> code,
                                 const std::string &arch);

/// Where each argument of a kernel lies, in order. For tests: launches hand
/// over arguments packed as on AMD's devices, and have to agree with this.
Result<std::vector<CubinParameter>>
readCubinParameters(std::span<const std::byte> code, const std::string &kernel);

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_CUBININFO_H
