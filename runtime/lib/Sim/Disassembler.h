// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's AMDGPU disassembler behind an interface without LLVM types.
#ifndef WINNOW_SIM_DISASSEMBLER_H
#define WINNOW_SIM_DISASSEMBLER_H

#include "winnow/Runtime/Result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace winnow::sim {

/// Not thread-safe.
class Disassembler {
public:
  static Result<std::unique_ptr<Disassembler>> create();
  ~Disassembler();

  struct Decoded {
    /// 0 when the bytes are no instruction of gfx950.
    unsigned size = 0;
    /// Assembler name with its encoding suffix: "v_add_f32_e32".
    std::string_view mnemonic;
  };
  Decoded decode(std::span<const uint8_t> bytes, uint64_t address);

  /// The instruction as LLVM prints it, or its first dword.
  std::string text(std::span<const uint8_t> bytes, uint64_t address);

private:
  Disassembler();
  struct Impl;
  std::unique_ptr<Impl> state;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_DISASSEMBLER_H
