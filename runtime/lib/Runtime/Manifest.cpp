// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and look-ups of the manifest's types.
#include "winnow/Runtime/Manifest.h"
#include "Spellings.h"

#include <algorithm>

using namespace winnow;
using namespace winnow::runtime;

std::string_view runtime::dtypeName(DType dtype) {
  return spelling(kDTypes, dtype);
}

std::optional<DType> runtime::parseDType(std::string_view name) {
  return parseSpelling(kDTypes, name);
}

std::string_view runtime::roleName(Role role) { return spelling(kRoles, role); }

int64_t runtime::byteWidth(DType dtype) {
  switch (dtype) {
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    return 1;
  case DType::BF16:
  case DType::F16:
    return 2;
  case DType::F32:
  case DType::I32:
    return 4;
  }
  return 0;
}

std::string Extent::text() const {
  switch (kind) {
  case Kind::Any:
    return "any";
  case Kind::Exactly:
    return value.text();
  case Kind::AtLeast:
    return "at least " + value.text();
  }
  return "";
}

const TensorArgument *Entry::argument(std::string_view name) const {
  for (const TensorArgument &argument : arguments)
    if (argument.name == name)
      return &argument;
  return nullptr;
}

int Entry::indexOf(Role role) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].role == role)
      return static_cast<int>(i);
  return -1;
}

const int64_t *Entry::integer(std::string_view fact) const {
  auto found = facts.find(fact);
  return found == facts.end() ? nullptr : std::get_if<int64_t>(&found->second);
}

const std::string *Entry::string(std::string_view fact) const {
  auto found = facts.find(fact);
  return found == facts.end() ? nullptr
                              : std::get_if<std::string>(&found->second);
}

const bool *Entry::boolean(std::string_view fact) const {
  auto found = facts.find(fact);
  return found == facts.end() ? nullptr : std::get_if<bool>(&found->second);
}

Result<const Entry *> Bundle::find(std::string_view name) const {
  std::string known;
  std::vector<std::string_view> names;
  for (const Entry &entry : entries) {
    if (entry.name == name)
      return &entry;
    if (std::find(names.begin(), names.end(), entry.name) != names.end())
      continue; // a variant of one before it
    names.push_back(entry.name);
    known += (known.empty() ? "" : ", ") + entry.name;
  }
  if (name.empty()) {
    if (names.size() == 1)
      return &entries.front();
    return Error{"the bundle has " + std::to_string(names.size()) +
                 " entries, name one: " + known};
  }
  return Error{"the bundle has no entry '" + std::string(name) +
               "'; it has: " + (known.empty() ? "none" : known)};
}

std::vector<const Entry *> Bundle::variants(std::string_view name) const {
  std::vector<const Entry *> found;
  for (const Entry &entry : entries)
    if (entry.name == name)
      found.push_back(&entry);
  return found;
}

std::string Bundle::loweringNames(std::string_view name) const {
  std::vector<std::string_view> known;
  std::string text;
  for (const Entry *entry : variants(name)) {
    if (std::find(known.begin(), known.end(), entry->lowering) != known.end())
      continue; // there may be one for each architecture
    known.push_back(entry->lowering);
    text += (text.empty() ? "" : ", ") + entry->lowering;
  }
  return text;
}
