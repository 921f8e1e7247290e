// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256 over fields, for keys that name compiled code.
#ifndef WINNOW_LIB_RUNTIME_DIGEST_H
#define WINNOW_LIB_RUNTIME_DIGEST_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace winnow::runtime {

using Digest = std::array<uint8_t, 32>;

/// Each field goes in with its length, so that no two lists of fields run
/// together to the same bytes.
class Digester {
public:
  Digester();
  ~Digester();
  Digester &field(std::string_view text);
  Digester &field(std::span<const std::byte> bytes);
  Digester &field(uint64_t number);
  Digest digest();

private:
  struct State;
  std::unique_ptr<State> state;
};

std::string hexText(std::span<const uint8_t> bytes);

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_DIGEST_H
