// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Little-endian numbers and texts of a file that is not trusted.
#ifndef WINNOW_LIB_RUNTIME_BYTEREADER_H
#define WINNOW_LIB_RUNTIME_BYTEREADER_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace winnow::runtime {

/// Reads within the file only.
class ByteReader {
public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes(bytes) {}

  bool has(uint64_t offset, uint64_t count) const {
    return offset <= bytes.size() && count <= bytes.size() - offset;
  }
  /// The caller has asked `has`.
  template <typename T> T at(uint64_t offset) const {
    T value = 0;
    for (unsigned i = 0; i < sizeof(T); ++i)
      value = static_cast<T>(
          value |
          static_cast<T>(
              static_cast<T>(std::to_integer<uint8_t>(bytes[offset + i]))
              << (8 * i)));
    return value;
  }
  std::string textAt(uint64_t offset) const {
    std::string text;
    for (; offset < bytes.size() && bytes[offset] != std::byte(0); ++offset)
      text.push_back(static_cast<char>(bytes[offset]));
    return text;
  }
  uint64_t size() const { return bytes.size(); }

private:
  std::span<const std::byte> bytes;
};

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_BYTEREADER_H
