// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contracts that a description may name.
#include "winnow/IR/Entry.h"

#include "llvm/ADT/STLExtras.h"

using namespace winnow;

llvm::ArrayRef<llvm::StringRef> winnow::getKnownContracts() {
  static const llvm::StringRef names[] = {"aiter_msa"};
  return names;
}

bool winnow::isKnownContract(llvm::StringRef name) {
  return llvm::is_contained(getKnownContracts(), name);
}
