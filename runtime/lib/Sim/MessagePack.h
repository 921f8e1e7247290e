// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The little of MessagePack that kernel metadata uses, with its depth and
// counts bounded by the buffer: metadata is as untrusted as the rest of a file.
#ifndef WINNOW_SIM_MESSAGEPACK_H
#define WINNOW_SIM_MESSAGEPACK_H

#include "winnow/Runtime/Result.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace winnow::sim {

/// A value of metadata. Strings are views into the parsed bytes.
struct PackValue {
  enum class Kind { Nil, Boolean, Integer, Other, String, Array, Map };
  Kind kind = Kind::Nil;
  /// Integers and booleans; negative ones in two's complement.
  uint64_t integer = 0;
  std::string_view text;
  /// An array's items; a map's keys and values in turn.
  std::vector<PackValue> items;

  /// The field of that name, or null.
  const PackValue *find(std::string_view name) const {
    if (kind == Kind::Map)
      for (size_t i = 0; i + 1 < items.size(); i += 2)
        if (items[i].kind == Kind::String && items[i].text == name)
          return &items[i + 1];
    return nullptr;
  }
};

Result<PackValue> parseMessagePack(std::span<const uint8_t> bytes);

} // namespace winnow::sim

#endif // WINNOW_SIM_MESSAGEPACK_H
