// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a code object says of itself, read without LLVM: enough to refuse one
// that is damaged or another architecture's before a driver sees it.
#ifndef WINNOW_LIB_RUNTIME_CODEOBJECTINFO_H
#define WINNOW_LIB_RUNTIME_CODEOBJECTINFO_H

#include "winnow/Runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace winnow::runtime {

/// Sizes in bytes.
struct KernelResources {
  std::string name;
  uint32_t ldsBytes = 0;     ///< static, of a workgroup
  uint32_t scratchBytes = 0; ///< of a work item
  uint32_t kernargBytes = 0;
  /// Vector registers of a lane, as allocated; 0 where the architecture's
  /// granule is not known here.
  uint32_t vgprs = 0;
  bool operator==(const KernelResources &) const = default;
};

struct CodeObjectInfo {
  std::vector<KernelResources> kernels; ///< by name
};

/// Reads `code`, which is untrusted: an AMDGPU code object, or for "sm_90" and
/// its like a cubin. An error says what is wrong with it: not such an ELF file,
/// cut short, or for another processor or other features than `arch`
/// ("gfx950:sramecc+:xnack-"; what it leaves open may be either).
Result<CodeObjectInfo> readCodeObject(std::span<const std::byte> code,
                                      const std::string &arch);

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_CODEOBJECTINFO_H
