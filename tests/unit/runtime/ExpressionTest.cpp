// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "winnow/Runtime/Expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::HasSubstr;
using Kind = Expression::Kind;

namespace {

int64_t value(const Expression &expression, const Symbols &symbols = {}) {
  Result<int64_t> result = evaluate(expression, symbols);
  EXPECT_TRUE(result) << (result ? "" : result.message());
  return result ? *result : -999;
}

std::string failure(const Expression &expression, const Symbols &symbols = {}) {
  Result<int64_t> result = evaluate(expression, symbols);
  return result ? "no error: " + std::to_string(*result) : result.message();
}

TEST(Expression, ComputesEveryOperation) {
  const Symbols symbols = {{"r", 5}, {"n", -7}};
  EXPECT_EQ(value(42), 42);
  EXPECT_EQ(value("r", symbols), 5);
  EXPECT_EQ(value({Kind::Add, "r", "n"}, symbols), -2);
  EXPECT_EQ(value({Kind::Mul, "r", "n"}, symbols), -35);
  EXPECT_EQ(value({Kind::FloorDiv, "r", 2}, symbols), 2);
  EXPECT_EQ(value({Kind::CeilDiv, "r", 2}, symbols), 3);
  EXPECT_EQ(value({Kind::Mod, "r", 2}, symbols), 1);
  EXPECT_EQ(value({Kind::CeilDiv, {Kind::Mul, "r", 4}, 10}, symbols), 2);
}

TEST(Expression, DivisionsOfNegativeNumbersRoundAsNamed) {
  EXPECT_EQ(value({Kind::FloorDiv, -7, 2}), -4);
  EXPECT_EQ(value({Kind::CeilDiv, -7, 2}), -3);
  EXPECT_EQ(value({Kind::Mod, -7, 2}), 1);
  EXPECT_EQ(value({Kind::FloorDiv, -8, 2}), -4);
  EXPECT_EQ(value({Kind::CeilDiv, -8, 2}), -4);
  EXPECT_EQ(value({Kind::Mod, -8, 2}), 0);
  EXPECT_EQ(value({Kind::FloorDiv, INT64_MIN, 1}), INT64_MIN);
}

TEST(Expression, ErrorsNameTheExpressionAndItsValues) {
  EXPECT_EQ(failure({Kind::Mul, "r", INT64_MAX}, {{"r", 2}}),
            "(r * 9223372036854775807): does not fit 64 bits with 2 and "
            "9223372036854775807");
  EXPECT_THAT(failure({Kind::Add, INT64_MAX, 1}),
              HasSubstr("does not fit 64 bits"));
  EXPECT_EQ(failure({Kind::FloorDiv, 4, 0}),
            "(4 floordiv 0): the divisor is 0, wanted above 0");
  EXPECT_THAT(failure({Kind::Mod, INT64_MIN, -1}),
              HasSubstr("the divisor is -1, wanted above 0"));
  EXPECT_EQ(failure("rows", {{"requests", 1}, {"q", 1}}),
            "unknown symbol 'rows'; known: q, requests");
  EXPECT_EQ(failure("rows"), "unknown symbol 'rows'; known: none");
}

} // namespace
