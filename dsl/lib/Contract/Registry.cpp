// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The embedded contracts: every file of dsl/contracts but facts.json.
#include "winnow/Contract/Contract.h"

#include "Vocabulary.h"

#include <map>

namespace winnow::contract {

namespace {

struct Registry {
  std::map<std::string, Contract, std::less<>> contracts;
  std::vector<std::string> names;
  Status status;
};

/// `file` must hold the contract that it is named after, so that a name in an
/// error leads to its file.
Status add(Registry &registry, const EmbeddedFile &file) {
  Result<Contract> contract = Contract::parse(file.text, file.name);
  if (!contract)
    return contract.takeError();
  std::string name = (*contract).name();
  if (name + ".json" != file.name)
    return Error{std::string(file.name) + ": field 'contract' is \"" + name +
                 "\", needed the file's own name"};
  registry.contracts.emplace(name, std::move(*contract));
  return {};
}

const Registry &registry() {
  static const Registry loaded = [] {
    Registry registry;
    if (const Result<Vocabulary> &facts = embeddedVocabulary(); !facts) {
      registry.status = Error{facts.message()};
      return registry;
    }
    for (const EmbeddedFile &file : embeddedFiles()) {
      if (std::string_view(file.name) == "facts.json")
        continue;
      if (Status status = add(registry, file); !status && registry.status)
        registry.status = status.takeError();
    }
    for (const auto &[name, contract] : registry.contracts)
      registry.names.push_back(name);
    return registry;
  }();
  return loaded;
}

} // namespace

const Contract *find(std::string_view name) {
  auto it = registry().contracts.find(name);
  return it == registry().contracts.end() ? nullptr : &it->second;
}

const std::vector<std::string> &names() { return registry().names; }

const Status &registryStatus() { return registry().status; }

} // namespace winnow::contract
