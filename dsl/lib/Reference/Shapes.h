// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks that the operations share: one wording for every wrong extent.
#ifndef WINNOW_LIB_REFERENCE_SHAPES_H
#define WINNOW_LIB_REFERENCE_SHAPES_H

#include "winnow/Reference/Operations.h"

namespace winnow::reference {

inline Problem wantExtent(const char *tensor, int axis, int64_t found,
                          int64_t wanted) {
  if (found == wanted)
    return std::nullopt;
  return std::string(tensor) + ": axis " + std::to_string(axis) + " has " +
         std::to_string(found) + " entries, wanted " + std::to_string(wanted);
}

inline Problem wantAtLeast(const char *tensor, int axis, int64_t found,
                           int64_t wanted) {
  if (found >= wanted)
    return std::nullopt;
  return std::string(tensor) + ": axis " + std::to_string(axis) + " has " +
         std::to_string(found) + " entries, wanted at least " +
         std::to_string(wanted);
}

} // namespace winnow::reference

#endif // WINNOW_LIB_REFERENCE_SHAPES_H
