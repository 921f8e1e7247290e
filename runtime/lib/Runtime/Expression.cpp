// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluation of shape and launch formulas, with every overflow an error.
#include "winnow/Runtime/Expression.h"
#include "Spellings.h"

using namespace winnow;
using namespace winnow::runtime;

std::string_view runtime::operationName(Expression::Kind kind) {
  return spelling(kOperations, kind);
}

std::string Expression::text() const {
  switch (kind) {
  case Kind::Constant:
    return std::to_string(constant);
  case Kind::Symbol:
    return symbol;
  case Kind::Add:
    return "(" + operands[0].text() + " + " + operands[1].text() + ")";
  case Kind::Mul:
    return "(" + operands[0].text() + " * " + operands[1].text() + ")";
  case Kind::FloorDiv:
  case Kind::CeilDiv:
  case Kind::Mod:
    return "(" + operands[0].text() + " " + std::string(operationName(kind)) +
           " " + operands[1].text() + ")";
  }
  return "";
}

namespace {

Error problem(const Expression &expression, const std::string &what) {
  return Error{expression.text() + ": " + what};
}

} // namespace

Result<int64_t> runtime::evaluate(const Expression &expression,
                                  const Symbols &symbols) {
  using Kind = Expression::Kind;
  if (expression.kind == Kind::Constant)
    return expression.constant;
  if (expression.kind == Kind::Symbol) {
    auto found = symbols.find(expression.symbol);
    if (found != symbols.end())
      return found->second;
    std::string known;
    for (const auto &[name, value] : symbols)
      known += (known.empty() ? "" : ", ") + name;
    return Error{"unknown symbol '" + expression.symbol +
                 "'; known: " + (known.empty() ? "none" : known)};
  }

  if (expression.operands.size() != 2)
    return Error{"an operation of " +
                 std::to_string(expression.operands.size()) +
                 " operands, wanted 2"};
  Result<int64_t> left = evaluate(expression.operands[0], symbols);
  if (!left)
    return left;
  Result<int64_t> right = evaluate(expression.operands[1], symbols);
  if (!right)
    return right;
  const int64_t a = *left, b = *right;
  const std::string values =
      " with " + std::to_string(a) + " and " + std::to_string(b);

  int64_t value = 0;
  switch (expression.kind) {
  case Kind::Add:
    if (__builtin_add_overflow(a, b, &value))
      return problem(expression, "does not fit 64 bits" + values);
    return value;
  case Kind::Mul:
    if (__builtin_mul_overflow(a, b, &value))
      return problem(expression, "does not fit 64 bits" + values);
    return value;
  default:
    break;
  }
  if (b < 1)
    return problem(expression,
                   "the divisor is " + std::to_string(b) + ", wanted above 0");
  // C++ rounds towards zero; a remainder below zero means one step down.
  const int64_t remainder = a % b;
  const int64_t floor = a / b - (remainder < 0 ? 1 : 0);
  if (expression.kind == Kind::FloorDiv)
    return floor;
  if (expression.kind == Kind::Mod)
    return remainder < 0 ? remainder + b : remainder;
  return floor + (remainder != 0 ? 1 : 0);
}
