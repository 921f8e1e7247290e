// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Elements.h"

#include "winnow/Reference/NumberFormats.h"

#include <algorithm>
#include <cstring>

using namespace winnow;
using namespace winnow::test;
using runtime::DType;

Elements::Elements(DType dtype, int64_t dims, int largest)
    : dtype(dtype), dims(dims), width(runtime::byteWidth(dtype)),
      largest(largest) {
  sign = width == 1 ? 0x80 : 0x8000;
  switch (dtype) {
  case DType::F8E4M3FN:
    nan = 0x7f, infinity = 0, denormals = 7, most = 0x7e;
    break;
  case DType::F8E5M2:
    nan = 0x7d, infinity = 0x7c, denormals = 3, most = 0x7b;
    break;
  case DType::F16:
    nan = 0x7e00, infinity = 0x7c00, denormals = 0x3ff, most = 0x7bff;
    break;
  default: // bf16
    nan = 0x7fc0, infinity = 0x7f80, denormals = 0x7f, most = 0x7f7f;
    break;
  }
}

uint32_t Elements::encode(float value) const {
  switch (dtype) {
  case DType::F8E4M3FN:
    return reference::encodeF8E4M3FN(value);
  case DType::F8E5M2:
    // The upper byte of an f16; cut off, which is near enough here.
    return reference::encodeF16(value) >> 8;
  case DType::F16:
    return reference::encodeF16(value);
  default:
    return reference::encodeBF16(value);
  }
}

void Elements::code(std::byte *to, int64_t d, uint32_t bits) const {
  const auto narrow = static_cast<uint16_t>(bits);
  std::memcpy(to + d * width, &narrow, width); // little-endian, as the device
}

void Elements::put(std::byte *to, int64_t d, float value) const {
  code(to, d, encode(value));
}

uint32_t Elements::anySign(uint32_t magnitude, Random &random) const {
  return random.chance(50) ? magnitude : magnitude | sign;
}

void Elements::choose(Values kind, Random &random) {
  values = kind;
  size_t vectors = 0;
  if (kind == Values::Plateaus)
    vectors = static_cast<size_t>(random.between(2, 5));
  else if (kind == Values::AllEqual || kind == Values::Clusters)
    vectors = 1;
  byBlock = random.chance(50);
  limited = dtype == DType::BF16 && random.chance(50);
  pool.assign(vectors, std::vector<uint32_t>(dims));
  for (std::vector<uint32_t> &vector : pool)
    for (uint32_t &element : vector)
      element = encode(static_cast<float>(random.between(-20, 20)) / 8.0f);
}

void Elements::nextBlock(Random &random) {
  if (!pool.empty())
    current = random.next() % pool.size();
  whole = random.chance(10);
}

void Elements::vector(std::byte *to, Random &random) {
  if (!pool.empty() && !byBlock)
    current = random.next() % pool.size();
  const bool opposite = random.chance(50), rare = random.chance(10);
  for (int64_t d = 0; d < dims; ++d) {
    switch (values) {
    case Values::Bell:
      break;
    case Values::Integers:
      put(to, d, static_cast<float>(random.between(-1, 1)));
      break;
    case Values::Plateaus:
    case Values::AllEqual:
      code(to, d, pool[current][d]);
      break;
    case Values::Clusters:
      code(to, d,
           pool[0][d] ^ (opposite ? sign : 0) ^
               static_cast<uint32_t>(random.chance(5)));
      break;
    case Values::SignedZeros:
      code(to, d, anySign(0, random));
      break;
    case Values::Denormals:
      code(
          to, d,
          anySign(static_cast<uint32_t>(random.between(0, denormals)), random));
      break;
    case Values::Extremes:
      code(to, d,
           anySign(limited
                       ? static_cast<uint32_t>(127 + largest - 1) << 7 | 0x7f
                       : most,
                   random));
      break;
    case Values::NaNs:
      if (whole || (rare && random.chance(5)))
        code(to, d, anySign(nan, random));
      break;
    case Values::Infinities:
      if (infinity && (rare || whole) && random.chance(5))
        code(to, d, anySign(infinity, random));
      break;
    case Values::Codes: {
      auto bits = static_cast<uint32_t>(random.next());
      if (limited)
        bits = anySign(static_cast<uint32_t>(
                           127 + random.between(-std::min(largest, 40),
                                                std::min(largest, 40) - 1))
                               << 7 |
                           (bits & 0x7f),
                       random);
      code(to, d, bits);
      break;
    }
    }
  }
}
