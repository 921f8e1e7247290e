// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words of a manifest: one table for each enumeration, used both ways.
#ifndef WINNOW_LIB_RUNTIME_SPELLINGS_H
#define WINNOW_LIB_RUNTIME_SPELLINGS_H

#include "winnow/Runtime/Manifest.h"

#include <utility>

namespace winnow::runtime {

inline constexpr std::pair<DType, std::string_view> kDTypes[] = {
    {DType::F8E4M3FN, "f8E4M3FN"}, {DType::F8E5M2, "f8E5M2"},
    {DType::BF16, "bf16"},         {DType::F16, "f16"},
    {DType::F32, "f32"},           {DType::I32, "i32"}};

inline constexpr std::pair<Access, std::string_view> kAccesses[] = {
    {Access::Read, "read"},
    {Access::Write, "write"},
    {Access::ReadWrite, "read_write"}};

inline constexpr std::pair<Role, std::string_view> kRoles[] = {
    {Role::SeqLens, "seq_lens"},
    {Role::CuSeqlens, "cu_seqlens"},
    {Role::Query, "query"},
    {Role::Keys, "keys"},
    {Role::IndexTable, "index_table"},
    {Role::AttnTable, "attn_table"},
    {Role::Selection, "selection"},
    {Role::Pages, "pages"},
    {Role::Contexts, "ctx"},
    {Role::CandidateIds, "candidate_ids"},
    {Role::CandidateScores, "candidate_scores"},
    {Role::RankIds, "rank_ids"},
    {Role::RankScores, "rank_scores"},
    {Role::Step, "step"}};

inline constexpr std::pair<Layout, std::string_view> kLayouts[] = {
    {Layout::Contiguous, "contiguous"}, {Layout::Rows, "rows"}};

inline constexpr std::pair<Expression::Kind, std::string_view> kOperations[] = {
    {Expression::Kind::Add, "add"},
    {Expression::Kind::Mul, "mul"},
    {Expression::Kind::FloorDiv, "floordiv"},
    {Expression::Kind::CeilDiv, "ceildiv"},
    {Expression::Kind::Mod, "mod"}};

template <typename Enum, size_t N>
std::string_view spelling(const std::pair<Enum, std::string_view> (&table)[N],
                          Enum value) {
  for (const auto &[known, name] : table)
    if (known == value)
      return name;
  return "";
}

template <typename Enum, size_t N>
std::optional<Enum>
parseSpelling(const std::pair<Enum, std::string_view> (&table)[N],
              std::string_view name) {
  for (const auto &[value, known] : table)
    if (known == name)
      return value;
  return std::nullopt;
}

/// "read, write, read_write", for errors.
template <typename Enum, size_t N>
std::string spellings(const std::pair<Enum, std::string_view> (&table)[N]) {
  std::string all;
  for (const auto &[value, name] : table)
    all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_SPELLINGS_H
