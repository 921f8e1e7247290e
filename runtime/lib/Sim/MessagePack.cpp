// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recursive descent over MessagePack; the recursion is bounded.
#include "MessagePack.h"

#include <string>

namespace winnow::sim {
namespace {

constexpr unsigned kMostDepth = 16;

class Reader {
public:
  Reader(std::span<const uint8_t> bytes) : bytes(bytes) {}

  Result<PackValue> run() {
    PackValue value;
    if (!parse(value, 0))
      return Error{"kernel metadata: " + problem + " at byte " +
                   std::to_string(at)};
    if (at != bytes.size())
      return Error{"kernel metadata: " + std::to_string(bytes.size() - at) +
                   " bytes follow the value"};
    return value;
  }

private:
  bool fail(const char *what) {
    problem = what;
    return false;
  }

  // Big-endian, as the format says.
  bool number(unsigned size, uint64_t &out) {
    if (bytes.size() - at < size)
      return fail("a number is cut off");
    out = 0;
    for (unsigned i = 0; i < size; ++i)
      out = out << 8 | bytes[at++];
    return true;
  }
  bool signedNumber(unsigned size, uint64_t &out) {
    if (!number(size, out))
      return false;
    unsigned shift = 64 - 8 * size;
    out = uint64_t(int64_t(out << shift) >> shift);
    return true;
  }
  bool skip(uint64_t size) {
    if (bytes.size() - at < size)
      return fail("a blob is cut off");
    at += size;
    return true;
  }
  bool string(uint64_t size, PackValue &out) {
    if (bytes.size() - at < size)
      return fail("a string is cut off");
    out.kind = PackValue::Kind::String;
    out.text = std::string_view(
        reinterpret_cast<const char *>(bytes.data()) + at, size);
    at += size;
    return true;
  }
  bool array(uint64_t count, PackValue &out, unsigned depth) {
    // An item takes a byte at least.
    if (count > bytes.size() - at)
      return fail("an array claims more items than bytes are left");
    out.kind = PackValue::Kind::Array;
    for (uint64_t i = 0; i < count; ++i)
      if (!parse(out.items.emplace_back(), depth + 1))
        return false;
    return true;
  }
  bool map(uint64_t count, PackValue &out, unsigned depth) {
    if (count > (bytes.size() - at) / 2)
      return fail("a map claims more fields than bytes are left");
    out.kind = PackValue::Kind::Map;
    for (uint64_t i = 0; i < 2 * count; ++i)
      if (!parse(out.items.emplace_back(), depth + 1))
        return false;
    return true;
  }

  bool parse(PackValue &out, unsigned depth) {
    if (depth > kMostDepth)
      return fail("values nest too deep");
    if (at >= bytes.size())
      return fail("a value is cut off");
    uint8_t tag = bytes[at++];
    uint64_t size = 0;
    out.kind = PackValue::Kind::Integer;
    if (tag < 0x80)
      return out.integer = tag, true;
    if (tag >= 0xe0)
      return out.integer = uint64_t(int64_t(int8_t(tag))), true;
    if (tag < 0x90)
      return map(tag & 15, out, depth);
    if (tag < 0xa0)
      return array(tag & 15, out, depth);
    if (tag < 0xc0)
      return string(tag & 31, out);
    switch (tag) {
    case 0xc0:
      out.kind = PackValue::Kind::Nil;
      return true;
    case 0xc2:
    case 0xc3:
      out.kind = PackValue::Kind::Boolean;
      out.integer = tag & 1;
      return true;
    case 0xc4:
    case 0xc5:
    case 0xc6:
      out.kind = PackValue::Kind::Other;
      return number(1u << (tag - 0xc4), size) && skip(size);
    case 0xca:
    case 0xcb:
      out.kind = PackValue::Kind::Other;
      return skip(tag == 0xca ? 4 : 8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return number(1u << (tag - 0xcc), out.integer);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
      return signedNumber(1u << (tag - 0xd0), out.integer);
    case 0xd9:
    case 0xda:
    case 0xdb:
      return number(1u << (tag - 0xd9), size) && string(size, out);
    case 0xdc:
    case 0xdd:
      return number(2u << (tag - 0xdc), size) && array(size, out, depth);
    case 0xde:
    case 0xdf:
      return number(2u << (tag - 0xde), size) && map(size, out, depth);
    default:
      return fail("an unknown tag");
    }
  }

  std::span<const uint8_t> bytes;
  size_t at = 0;
  std::string problem;
};

} // namespace

Result<PackValue> parseMessagePack(std::span<const uint8_t> bytes) {
  return Reader(bytes).run();
}

} // namespace winnow::sim
