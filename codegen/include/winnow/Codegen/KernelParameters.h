// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters of a generated kernel, in order. The emitter declares them and
// the manifest tells the runtime how to fill them: one list for both, so that
// source and launch cannot disagree.
#ifndef WINNOW_CODEGEN_KERNELPARAMETERS_H
#define WINNOW_CODEGEN_KERNELPARAMETERS_H

#include "winnow/IR/Winnow.h"

namespace winnow {

/// Work-items of a wave as plans count them: `waves` of a kernel times this is
/// its workgroup's size, whatever the target's waves are. On gfx950 they have
/// as many lanes (CDNA4 ISA, "Wavefront").
inline constexpr int64_t kWaveLanes = 64;

struct KernelParameter {
  enum class Kind {
    Pointer, ///< the address of a memref's first element, 8 bytes
    Stride,  ///< elements from one index of `axis` to the next, 8 bytes
    Extent,  ///< the number of indices of `axis`, 8 bytes
  };
  Kind kind;
  unsigned argument;   ///< index of the kernel's block argument
  unsigned axis = 0;   ///< of a stride or an extent
  std::string name;    ///< in the generated source
  std::string cppType; ///< in the generated source: "const u8 *", "i64"
};

/// The parameters of `kernel`: for each argument its pointer, then the strides
/// and extents that its stages need.
llvm::SmallVector<KernelParameter> kernelParameters(KernelOp kernel);

/// The templates' spelling of an element type: fp8 travels as bytes.
llvm::StringRef elementSpelling(mlir::Type type);

/// Whether a stage of the kernel writes the memory of this argument.
bool isWritten(KernelOp kernel, unsigned argument);

} // namespace winnow

#endif // WINNOW_CODEGEN_KERNELPARAMETERS_H
