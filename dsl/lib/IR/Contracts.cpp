// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contracts that a description may name: those of dsl/contracts, so that a
// new file there is known here without a list to keep.
#include "winnow/Contract/Contract.h"
#include "winnow/IR/Entry.h"

#include "llvm/ADT/STLExtras.h"

using namespace winnow;

llvm::ArrayRef<llvm::StringRef> winnow::getKnownContracts() {
  static const std::vector<llvm::StringRef> names(contract::names().begin(),
                                                  contract::names().end());
  return names;
}

bool winnow::isKnownContract(llvm::StringRef name) {
  return llvm::is_contained(getKnownContracts(), name);
}
