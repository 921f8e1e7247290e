// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts of a call, and the answer of the contracts that a bundle carries.
#include "winnow/Runtime/ContractAnswer.h"

using namespace winnow;
using namespace winnow::runtime;

namespace {

bool isDense(const TensorView &tensor) {
  int64_t expected = 1;
  for (int axis = tensor.rank - 1; axis >= 0; --axis) {
    if (tensor.extents[axis] > 1 && tensor.strides[axis] != expected)
      return false;
    if (__builtin_mul_overflow(expected, tensor.extents[axis], &expected))
      return false;
  }
  return true;
}

/// What a fact is called that an argument's first axis states.
const char *rowsFact(Role role) {
  switch (role) {
  case Role::Query:
    return "query_rows";
  case Role::SeqLens:
    return "seq_lens_rows";
  case Role::IndexTable:
    return "index_table_rows";
  case Role::AttnTable:
    return "attention_table_rows";
  default:
    return nullptr;
  }
}

} // namespace

contract::Facts runtime::callFacts(const Entry &entry, const Target &target,
                                   std::span<const TensorView> arguments) {
  contract::Facts facts = entry.facts;
  facts.insert_or_assign("platform", target.platform);
  facts.insert_or_assign("arch", target.arch);
  for (size_t i = 0; i < arguments.size() && i < entry.arguments.size(); ++i) {
    const TensorView &tensor = arguments[i];
    const Role role = entry.arguments[i].role;
    const std::string layout = isDense(tensor) ? "contiguous" : "strided";
    if (role == Role::Query)
      facts.insert_or_assign("query_layout", layout);
    if (role == Role::Keys)
      facts.insert_or_assign("key_layout", layout);
    if (role == Role::RankIds && tensor.rank == 4) {
      facts.insert_or_assign("merge_world", tensor.extents[0]);
      facts.insert_or_assign("query_rows", tensor.extents[2]);
    }
    // Uniform rows derive it from the query's.
    if (role == Role::CuSeqlens && tensor.rank > 0)
      facts.insert_or_assign("requests", tensor.extents[0] - 1);
    if (const char *fact = rowsFact(role); fact && tensor.rank > 0)
      facts.insert_or_assign(fact, tensor.extents[0]);
  }
  return facts;
}

Result<std::vector<ContractAnswer>>
runtime::answerContracts(const Entry &entry, const Target &target,
                         std::span<const TensorView> arguments) {
  const contract::Facts facts = callFacts(entry, target, arguments);
  std::vector<ContractAnswer> answers;
  for (const std::string *text : {&entry.contract, &entry.loweringContract}) {
    if (text->empty())
      continue;
    Result<contract::Contract> parsed =
        contract::Contract::parse(*text, "the bundle's entry " + entry.name);
    if (!parsed)
      return parsed.takeError();
    answers.push_back({parsed->name(), contract::evaluate(*parsed, facts)});
  }
  return answers;
}
