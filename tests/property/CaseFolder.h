// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cases in a folder, to be run on another machine: a bundle with machine code
// for each description, and cases.json, which says what the inputs are.
#ifndef WINNOW_TESTS_PROPERTY_CASEFOLDER_H
#define WINNOW_TESTS_PROPERTY_CASEFOLDER_H

#include "RandomInputs.h"

#include <string>
#include <vector>

namespace winnow::test {

/// One description in one lowering.
struct FolderCase {
  uint64_t seed = 0;
  int variant = 0;      ///< of the seed's descriptions
  std::string bundle;   ///< a file of the folder
  std::string lowering; ///< "generic"
  std::string shape;    ///< for people, one line
  std::vector<Inputs> inputs;
};

struct CaseFolder {
  std::string arch; ///< that the code is for
  std::vector<FolderCase> cases;

  /// Writes cases.json; the bundles are there already.
  Status write(const std::string &folder) const;
  static Result<CaseFolder> read(const std::string &folder);
};

} // namespace winnow::test

#endif // WINNOW_TESTS_PROPERTY_CASEFOLDER_H
