// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs of a call: made from a seed, or taken from a file.
#ifndef WINNOW_TOOL_INPUTS_H
#define WINNOW_TOOL_INPUTS_H

#include "HostCall.h"

#include <string>
#include <vector>

namespace winnow::tool {

/// The lengths of a call's requests.
struct Lengths {
  std::vector<int32_t> tokens; ///< one for each request
  /// New tokens of each request, where the entry's rows are ragged; else empty.
  std::vector<int32_t> newTokens;

  Lengths() = default;
  Lengths(std::vector<int32_t> tokens, std::vector<int32_t> newTokens = {})
      : tokens(std::move(tokens)), newTokens(std::move(newTokens)) {}
  Lengths(std::initializer_list<int32_t> tokens) : tokens(tokens) {}
};

/// Context lengths of `requests` requests: the first has `context` tokens, the
/// others anything from 1 to that. The same for the same seed everywhere.
std::vector<int32_t> raggedLengths(int64_t requests, int64_t context,
                                   uint64_t seed);

/// New tokens for requests of those lengths: some have none, one decodes, and
/// some are prefilled whole, all within the bounds of an entry with ragged
/// rows.
std::vector<int32_t> raggedNewTokens(const Indexer &indexer,
                                     const std::vector<int32_t> &lengths,
                                     uint64_t seed);

/// A call with random queries and keys of about unit variance and shuffled
/// block tables, the attention's another than the indexer's. What no row may
/// see is chosen to be noticed: pages in no table are NaN, tokens past a
/// context's end match the query, table entries past a row's reach are page
/// 2139062143. A length past the bounds is an error. Where rows are ragged and
/// `lengths` gives no new tokens, raggedNewTokens makes them.
Result<Call> randomCall(const Indexer &indexer, const Lengths &lengths,
                        uint64_t seed);

/// A call with the inputs of a safetensors file, whose tensors are named as the
/// entry's arguments. Tables may be narrower than the bounds ask, down to what
/// the lengths reach. Row offsets that are malformed or past the bounds are
/// errors. An error names the file and the tensor.
Result<Call> callFromFile(const Indexer &indexer, const std::string &path);

} // namespace winnow::tool

#endif // WINNOW_TOOL_INPUTS_H
