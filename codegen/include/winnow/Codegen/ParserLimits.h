// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR's parser calls itself for every bracket and every operand of an affine
// expression, without a limit: text that is nested deep enough overflows the
// stack and takes the process along. Such text is found before it is parsed.
#ifndef WINNOW_CODEGEN_PARSERLIMITS_H
#define WINNOW_CODEGEN_PARSERLIMITS_H

#include <optional>
#include <string>
#include <string_view>

namespace winnow {

/// What is wrong with a text that would take the parser too deep, as
/// "LINE:COLUMN: error: ..."; nothing for any other text, valid or not.
std::optional<std::string> findTooDeep(std::string_view text);

} // namespace winnow

#endif // WINNOW_CODEGEN_PARSERLIMITS_H
