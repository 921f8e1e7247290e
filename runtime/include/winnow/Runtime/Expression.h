// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer formulas over a call's symbols ("requests", "rows"): how a bundle
// states shapes and launch geometry without knowing the batch.
#ifndef WINNOW_RUNTIME_EXPRESSION_H
#define WINNOW_RUNTIME_EXPRESSION_H

#include "winnow/Runtime/Result.h"

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::runtime {

/// Values of the symbols of one call.
using Symbols = std::map<std::string, int64_t, std::less<>>;

/// A constant, a symbol, or an operation on two expressions. In a manifest: 8,
/// "requests", ["mul", "requests", 8].
struct Expression {
  enum class Kind { Constant, Symbol, Add, Mul, FloorDiv, CeilDiv, Mod };

  Kind kind = Kind::Constant;
  int64_t constant = 0;             ///< of Constant
  std::string symbol;               ///< of Symbol
  std::vector<Expression> operands; ///< two, of every operation

  Expression() = default;
  // A template, so that the literal 0 is a number and never a null pointer.
  template <std::integral Integer>
  Expression(Integer constant) : constant(static_cast<int64_t>(constant)) {}
  Expression(std::string symbol)
      : kind(Kind::Symbol), symbol(std::move(symbol)) {}
  Expression(const char *symbol) : Expression(std::string(symbol)) {}
  Expression(Kind kind, Expression left, Expression right) : kind(kind) {
    operands.push_back(std::move(left));
    operands.push_back(std::move(right));
  }

  bool operator==(const Expression &) const = default;

  /// "(requests * 8)".
  std::string text() const;
};

/// Deeper nesting than this is refused: it bounds the recursion.
inline constexpr int kMaxExpressionDepth = 16;

/// The spelling of an operation in a manifest: "add", "mul", "floordiv",
/// "ceildiv", "mod"; empty for Constant and Symbol.
std::string_view operationName(Expression::Kind kind);

/// The value. Divisions round as their names say and `mod` is never negative;
/// a divisor below 1, an int64 overflow and an unknown symbol are errors that
/// name the expression and its values.
Result<int64_t> evaluate(const Expression &expression, const Symbols &symbols);

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_EXPRESSION_H
