// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// facts.json as read, and the embedded files it comes from.
#ifndef WINNOW_LIB_CONTRACT_VOCABULARY_H
#define WINNOW_LIB_CONTRACT_VOCABULARY_H

#include "winnow/Contract/Facts.h"

#include <string>
#include <string_view>
#include <vector>

namespace winnow::contract {

struct EmbeddedFile {
  const char *name;
  const char *text;
};

/// The files of dsl/contracts, by name.
const std::vector<EmbeddedFile> &embeddedFiles();

struct Vocabulary {
  std::vector<std::string> structs;
  std::vector<std::string> operations;
  std::vector<FactInfo> facts;
};

/// Reads a facts file strictly; errors name `source`, the fact and the field.
Result<Vocabulary> parseVocabulary(std::string_view text,
                                   std::string_view source);

/// The embedded one, or why it cannot be read.
const Result<Vocabulary> &embeddedVocabulary();

/// "Score::kHeads".
std::string qualified(std::string_view deviceStruct, std::string_view constant);

} // namespace winnow::contract

#endif // WINNOW_LIB_CONTRACT_VOCABULARY_H
