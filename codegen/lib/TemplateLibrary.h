// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device headers of templates/, embedded so that the generator needs no
// file at run time.
#ifndef WINNOW_CODEGEN_TEMPLATELIBRARY_H
#define WINNOW_CODEGEN_TEMPLATELIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace winnow {

/// The text of `headers` ("winnow/wave.h") and of all that they include, each
/// once and after what it needs, without the lines that only separate files
/// (#pragma once, #include). Every name has to be a header of templates/.
/// `target` is whose architecture headers ("gfx950") stand in for
/// "winnow/arch.h" and "winnow/arch_slices.h".
std::string inlineTemplates(llvm::ArrayRef<llvm::StringRef> headers,
                            llvm::StringRef target);

} // namespace winnow

#endif // WINNOW_CODEGEN_TEMPLATELIBRARY_H
