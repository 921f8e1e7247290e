// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damaged code objects and kernel arguments on the simulated device: each ends
// in an error or runs, none ends the process. Deterministic: a mutation's
// number says what it was.
#include "winnow/Sim/CodeObject.h"
#include "winnow/Sim/Device.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

using namespace winnow;
using namespace winnow::sim;

namespace {

using Bytes = std::vector<std::byte>;

Bytes mutate(const Bytes &original, std::mt19937 &random) {
  Bytes bytes = original;
  auto below = [&](size_t n) { return n ? random() % n : 0; };
  switch (random() % 5) {
  case 0: // truncated
    bytes.resize(below(bytes.size()));
    return bytes;
  case 1: // bits of the ELF header, the program headers or the notes
    for (unsigned i = 0; i < 1 + random() % 4; ++i)
      bytes[below(std::min<size_t>(bytes.size(), 0x600))] ^=
          std::byte(1u << random() % 8);
    return bytes;
  case 2: { // an extreme 32- or 64-bit field
    static const uint64_t values[] = {0,          1,     0x7fffffff,
                                      0xffffffff, ~0ull, 1ull << 63};
    uint64_t value = values[random() % 6];
    size_t width = random() % 2 ? 4 : 8;
    size_t at = below(bytes.size() / 4) * 4;
    if (at + width <= bytes.size())
      std::memcpy(bytes.data() + at, &value, width);
    return bytes;
  }
  case 3: // dwords anywhere: descriptors and code
    for (unsigned i = 0; i < 1 + random() % 8; ++i) {
      uint32_t word = uint32_t(random());
      size_t at = below(bytes.size() / 4) * 4;
      std::memcpy(bytes.data() + at, &word, 4);
    }
    return bytes;
  default: // a part moved
    size_t from = below(bytes.size()), to = below(bytes.size());
    size_t count =
        std::min({below(64) + 1, bytes.size() - from, bytes.size() - to});
    std::memmove(bytes.data() + to, original.data() + from, count);
    return bytes;
  }
}

/// Whether it loaded; runs whatever kernels it has.
bool tryOne(const Bytes &bytes, std::mt19937 &random) {
  auto object = CodeObject::load(bytes);
  if (!object)
    return false;
  for (const KernelInfo &kernel : (*object)->kernels()) {
    (void)(*object)->disassemble(kernel.name);
    (void)(*object)->unsupported(kernel.name);
    Device device;
    auto buffer = device.alloc(1 << 16, "buffer");
    if (!buffer)
      continue;
    size_t size = std::min<size_t>(kernel.kernargSize, 4096);
    if (random() % 8 == 0)
      size = random() % 64;
    Bytes kernarg(size);
    // Mostly pointers that work; else anything.
    for (size_t i = 0; i + 8 <= kernarg.size(); i += 8) {
      uint64_t value = random() % 4 ? *buffer + random() % 4096 * 4 : random();
      std::memcpy(kernarg.data() + i, &value, 8);
    }
    LaunchOptions options;
    options.instructionLimit = 20000;
    if (random() % 2)
      options.checks = Checks::all(CheckAction::Warn);
    options.profile = random() % 2;
    (void)device.launch(*object, kernel.name, {2, 1, 1}, {128, 1, 1}, kernarg,
                        options);
  }
  return true;
}

} // namespace

int main(int argc, char **argv) {
  int seconds = 0;
  if (argc >= 3) {
    const std::string_view text = argv[2];
    std::from_chars(text.data(), text.data() + text.size(), seconds);
  }
  if (seconds < 1) {
    std::fprintf(stderr, "usage: %s CODE-OBJECT SECONDS\n", argv[0]);
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  Bytes original(text.size());
  std::memcpy(original.data(), text.data(), text.size());
  std::mt19937 intact(0);
  if (!tryOne(original, intact)) {
    std::fprintf(stderr, "%s does not load as it is\n", argv[1]);
    return 1;
  }
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  unsigned tried = 0, loaded = 0;
  for (; std::chrono::steady_clock::now() < end; ++tried) {
    // The last line before a crash names its mutation.
    if (argc > 3)
      std::fprintf(stderr, "mutation %u\n", tried);
    std::mt19937 random(tried);
    loaded += tryOne(mutate(original, random), random);
  }
  std::printf("%u damaged code objects, %u of them still loaded\n", tried,
              loaded);
  return tried == 0;
}
