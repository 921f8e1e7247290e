// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs once a step: rebase_table, rebase_slots and insert_keys.
#include "Shapes.h"

using namespace winnow::reference;

namespace {

template <size_t Rank>
std::string shape(const std::array<int64_t, Rank> &extents) {
  std::string text = "[";
  for (size_t axis = 0; axis < Rank; ++axis)
    text += (axis ? ", " : "") + std::to_string(extents[axis]);
  return text + "]";
}

template <size_t Rank>
Problem verify(const std::array<int64_t, Rank> &input,
               const std::array<int64_t, Rank> &output, int64_t sides) {
  if (sides < 1)
    return "sides is " + std::to_string(sides) + ", wanted at least 1";
  for (size_t axis = 0; axis < Rank; ++axis)
    if (output[axis] < input[axis])
      return "output of shape " + shape(output) +
             " is too small for input of shape " + shape(input);
  return std::nullopt;
}

/// A product of 32-bit arithmetic: tables hold anything where no row looks.
int32_t wrapped(int64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value));
}

} // namespace

Problem winnow::reference::rebaseTable(View<const int32_t, 2> input,
                                       int64_t sides, View<int32_t, 2> output) {
  if (Problem problem = verify(input.extents, output.extents, sides))
    return problem;
  for (int64_t row = 0; row < input.extents[0]; ++row)
    for (int64_t j = 0; j < input.extents[1]; ++j)
      output(row, j) = wrapped(input(row, j) * sides);
  return std::nullopt;
}

Problem winnow::reference::rebaseSlots(View<const int32_t, 1> input,
                                       int64_t blockSize, int64_t sides,
                                       View<int32_t, 1> output) {
  if (blockSize < 1)
    return "block_size is " + std::to_string(blockSize) + ", wanted at least 1";
  if (Problem problem = verify(input.extents, output.extents, sides))
    return problem;
  for (int64_t i = 0; i < input.extents[0]; ++i) {
    const int64_t slot = input(i);
    output(i) =
        slot < 0 ? input(i)
                 : wrapped(slot + slot / blockSize * blockSize * (sides - 1));
  }
  return std::nullopt;
}

Problem winnow::reference::insertKeys(const NumberView &keys,
                                      View<const int32_t, 1> slots,
                                      const NumberStore &cache) {
  const int64_t tokens = keys.extents[1], dims = keys.extents[2];
  const int64_t blockSize = cache.extents[1];
  if (Problem problem = wantExtent("slots", 0, slots.extents[0], tokens))
    return problem;
  if (Problem problem = wantExtent("cache", 2, cache.extents[2], dims))
    return problem;
  if (Problem problem = wantAtLeast("cache", 1, blockSize, 1))
    return problem;
  if (cache.format != NumberFormat::F8E4M3FN &&
      cache.format != NumberFormat::BF16 && cache.format != NumberFormat::F16)
    return "cache is of a format that no key is converted to, wanted f8E4M3FN, "
           "bf16 or f16";
  for (int64_t i = 0; i < tokens; ++i)
    if (slots(i) >= 0 && slots(i) / blockSize >= cache.extents[0])
      return "slots[" + std::to_string(i) + "] is " + std::to_string(slots(i)) +
             ", in page " + std::to_string(slots(i) / blockSize) +
             "; the cache has " + std::to_string(cache.extents[0]) + " pages";
  for (int64_t i = 0; i < tokens; ++i)
    for (int64_t d = 0; slots(i) >= 0 && d < dims; ++d)
      cache.store(slots(i) / blockSize, slots(i) % blockSize, d, keys(0, i, d));
  return std::nullopt;
}
