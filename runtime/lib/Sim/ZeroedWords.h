// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large arrays of zeros that cost nothing until touched, and then few page
// faults: what checks know about each dword of memory.
#ifndef WINNOW_SIM_ZEROEDWORDS_H
#define WINNOW_SIM_ZEROEDWORDS_H

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <utility>

namespace winnow::sim {

class ZeroedWords {
public:
  ZeroedWords() = default;
  /// Null when the host has no memory.
  explicit ZeroedWords(size_t words) : bytes(words * 8) {
    void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
      return;
    // Only a wish: small pages work as well.
    madvise(mapped, bytes, MADV_HUGEPAGE);
    data = static_cast<uint64_t *>(mapped);
  }
  ZeroedWords(ZeroedWords &&other) noexcept { swap(other); }
  ZeroedWords &operator=(ZeroedWords &&other) noexcept {
    swap(other);
    return *this;
  }
  ~ZeroedWords() {
    if (data)
      munmap(data, bytes);
  }

  explicit operator bool() const { return data != nullptr; }
  uint64_t &operator[](size_t i) { return data[i]; }

private:
  void swap(ZeroedWords &other) noexcept {
    std::swap(data, other.data);
    std::swap(bytes, other.bytes);
  }

  uint64_t *data = nullptr;
  size_t bytes = 0;
};

} // namespace winnow::sim

#endif // WINNOW_SIM_ZEROEDWORDS_H
