// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nettle's SHA-256: a plain function without set-up. Loading and initialising
// OpenSSL takes 2 ms, of the 5 in which a first plan has to be there.
#include "Digest.h"

#include <nettle/sha2.h>

using namespace winnow::runtime;

struct Digester::State {
  sha256_ctx context;
};

Digester::Digester() : state(std::make_unique<State>()) {
  sha256_init(&state->context);
}
Digester::~Digester() = default;

Digester &Digester::field(std::string_view text) {
  return field(std::as_bytes(std::span(text.data(), text.size())));
}

Digester &Digester::field(std::span<const std::byte> bytes) {
  field(uint64_t(bytes.size()));
  sha256_update(&state->context, bytes.size(),
                reinterpret_cast<const uint8_t *>(bytes.data()));
  return *this;
}

Digester &Digester::field(uint64_t number) {
  uint8_t bytes[8];
  for (unsigned i = 0; i < 8; ++i)
    bytes[i] = static_cast<uint8_t>(number >> (8 * i));
  sha256_update(&state->context, sizeof bytes, bytes);
  return *this;
}

Digest Digester::digest() {
  Digest result;
  sha256_digest(&state->context, result.size(), result.data());
  return result;
}

std::string winnow::runtime::hexText(std::span<const uint8_t> bytes) {
  std::string text;
  for (uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}
