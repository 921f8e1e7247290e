// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading contracts: what is served, and what each mistake in a file is called.
#include "winnow/Contract/Contract.h"

#include "Vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace winnow;
using namespace winnow::contract;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

std::string wrap(const std::string &limits) {
  return R"({"contract": "c", "title": "C", "about": "A.", "limits": )" +
         limits + "}";
}

std::string errorOf(const std::string &text) {
  Result<Contract> contract = Contract::parse(text, "c.json");
  return contract ? "accepted" : contract.message();
}

TEST(Registry, ServesEveryFile) {
  ASSERT_TRUE(registryStatus()) << registryStatus().message();
  EXPECT_EQ(names().size(), embeddedFiles().size() - 1); // facts.json
  EXPECT_THAT(names(), testing::IsSupersetOf({"aiter_msa", "winnow_mfma"}));
  for (const std::string &name : names()) {
    ASSERT_NE(find(name), nullptr) << name;
    EXPECT_EQ(find(name)->name(), name);
    EXPECT_FALSE(find(name)->limits().empty());
  }
  EXPECT_EQ(find("aiter"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

TEST(Contract, JsonRoundTrip) {
  for (const std::string &name : names()) {
    const Contract &contract = *find(name);
    Result<Contract> again = Contract::parse(contract.toJson(), "a bundle");
    ASSERT_TRUE(again) << again.message();
    EXPECT_EQ(*again, contract);
    EXPECT_EQ((*again).toJson(), contract.toJson());
  }
}

TEST(Contract, DefaultsComeFromTheFacts) {
  Result<Contract> contract = Contract::parse(
      wrap(R"([{"id": "a", "fact": "block_size", "relation": "equals",
                "value": 128, "reason": "r"},
               {"id": "b", "product": ["index_heads", "query_len"],
                "relation": "at_most", "value": 16, "reason": "r"},
               {"id": "c", "fact": "block_size", "subject": "granule",
                "unit": "thing", "where": "k", "relation": "equals",
                "value": 128, "reason": "r", "static_assert": false}])"),
      "c.json");
  ASSERT_TRUE(contract) << contract.message();
  const Limit *a = (*contract).find("a");
  EXPECT_EQ(a->subject, "sparse block size");
  EXPECT_EQ(a->unit, "token");
  EXPECT_EQ(a->blamed, "block_size");
  EXPECT_TRUE(a->asserted);
  const Limit *b = (*contract).find("b");
  EXPECT_EQ(b->subject, "index heads x query length");
  EXPECT_EQ(b->unit, "");
  EXPECT_EQ(b->blamed, "index_heads");
  const Limit *c = (*contract).find("c");
  EXPECT_EQ(c->subject, "granule");
  EXPECT_EQ(c->unit, "thing");
  EXPECT_EQ(c->blamed, "k");
  EXPECT_FALSE(c->asserted);
  EXPECT_EQ((*contract).find("d"), nullptr);
}

TEST(Contract, RefusesBadFiles) {
  struct Case {
    std::string text, error;
  } cases[] = {
      {"", "c.json: not JSON"},
      {"{", "c.json: not JSON"},
      {"\xff\xfe", "c.json: not JSON"},
      {"{} {}", "c.json: not JSON"},
      {"null", "c.json: found null, needed an object"},
      {"[]", "c.json: found a list, needed an object"},
      {"{}", "c.json: field 'contract' is missing"},
      {R"({"contract": 3, "title": "C", "about": "A", "limits": []})",
       "c.json: field 'contract' is 3, needed a string"},
      {R"({"contract": "c", "title": "", "about": "A", "limits": []})",
       "c.json: field 'title' needs one line of printable ASCII"},
      {R"({"contract": "c", "title": "C", "about": "A", "limits": []})",
       "c.json: field 'limits' is a list, needed a list of limits"},
      {R"({"contract": "c", "title": "C", "about": "A", "limits": {}})",
       "c.json: field 'limits' is an object, needed a list of limits"},
      {R"({"contract": "c", "title": "C", "about": "A", "limit": []})",
       "c.json: field 'limits' is missing"},
      {R"({"contract": "c", "title": "C", "about": "A", "limits": [1],
           "more": 1})",
       "c.json: field 'more' is not known, needed one of contract, title"},
      {R"({"contract": "c", "contract": "c"})",
       "c.json: field 'contract' is there twice in one object"},
      {wrap("[1]"), "c.json: limit 1: found 1, needed an object"},
  };
  for (const Case &each : cases)
    EXPECT_THAT(errorOf(each.text), StartsWith(each.error)) << each.text;
}

TEST(Contract, RefusesBadLimits) {
  // Each row replaces or adds fields of a good limit ("" leaves one out).
  struct Case {
    std::string id, what, relation, value, rest, error;
  } cases[] = {
      {"", R"("fact": "k")", "equals", "16", "", "field 'id' is missing"},
      {"K", R"("fact": "k")", "equals", "16", "",
       "('K'): field 'id' is \"K\", needed lower case letters"},
      {"k", "", "equals", "16", "", "field 'fact' or 'product' is needed"},
      {"k", R"("fact": "k", "product": ["k", "k"])", "equals", "16", "",
       "field 'fact' or 'product' is needed"},
      {"k", R"("fact": "kk")", "equals", "16", "",
       "c.json: limit 1 ('k'): field 'fact' names 'kk', which is no fact"},
      {"k", R"("product": ["k"])", "at_most", "16", "",
       "field 'product' has 1 factors, needed 2 to 4"},
      {"k", R"("product": "k")", "at_most", "16", "",
       "field 'product' is \"k\", needed a list of names"},
      {"k", R"("product": ["k", 3])", "at_most", "16", "",
       "field 'product' is a list, needed a list of names"},
      {"k", R"("product": ["k", "arch"])", "at_most", "16", "",
       "field 'product' has 'arch', needed integer facts"},
      {"k", R"("fact": "k")", "is", "16", "",
       "field 'relation' is \"is\", needed one of equals, one_of, at_most, "
       "at_least, between, multiple_of"},
      {"k", R"("fact": "arch")", "at_most", R"("gfx950")", "",
       "field 'relation' is \"at_most\", needed an integer fact"},
      {"k", R"("fact": "k")", "equals", "", "", "field 'value' is missing"},
      {"k", R"("fact": "k")", "equals", R"("16")", "",
       "field 'value' has \"16\", needed an integer"},
      {"k", R"("fact": "k")", "equals", "16.5", "",
       "field 'value' has 16.5, needed an integer"},
      {"k", R"("fact": "k")", "equals", "9223372036854775808", "",
       "field 'value' has 9223372036854775808, needed an integer"},
      {"k", R"("fact": "k")", "equals", "[16]", "",
       "field 'value' is a list, needed one value"},
      {"k", R"("fact": "k")", "one_of", "16", "",
       "field 'value' is 16, needed a list"},
      {"k", R"("fact": "k")", "one_of", "[]", "",
       "field 'value' is an empty list"},
      {"k", R"("fact": "k")", "one_of", "[16, true]", "",
       "field 'value' has true, needed an integer"},
      {"k", R"("fact": "k")", "between", "[16]", "",
       "field 'value' needs two integers, the smaller first"},
      {"k", R"("fact": "k")", "between", "[16, 1]", "",
       "field 'value' needs two integers, the smaller first"},
      {"k", R"("fact": "k")", "between", R"({"fact": "k"})", "",
       "field 'value' is a fact, needed a list of literals"},
      {"k", R"("fact": "k")", "multiple_of", "0", "",
       "field 'value' is 0, needed at least 1"},
      {"k", R"("fact": "k")", "equals", R"({"fact": "q"})", "",
       "field 'value' names 'q', which is no fact"},
      {"k", R"("fact": "k")", "equals", R"({"fact": "arch"})", "",
       "field 'value' names 'arch', needed a fact that is an integer"},
      {"k", R"("fact": "k")", "equals", R"({"fact": "k", "z": 1})", "",
       "field 'value' needs {\"fact\": name}"},
      {"k", R"("fact": "query_dtype")", "equals", R"("f8E4M3")", "",
       "field 'value' has \"f8E4M3\", a spelling that facts.json does not "
       "list"},
      {"k", R"("fact": "k")", "equals", "16", R"("when": true)",
       "field 'when' is true, needed an object"},
      {"k", R"("fact": "k")", "equals", "16", R"("when": {})",
       "field 'when' is an object, needed an object of facts and values"},
      {"k", R"("fact": "k")", "equals", "16", R"("when": {"z": 1})",
       "field 'when' names 'z', which is no fact"},
      {"k", R"("fact": "k")", "equals", "16",
       R"("when": {"emits_page_table": 1})",
       "field 'when' has 1, needed true or false"},
      {"k", R"("fact": "k")", "equals", "16", R"("given": "k")",
       "field 'given' is \"k\", needed a list of names"},
      {"k", R"("fact": "k")", "equals", "16", R"("given": ["z"])",
       "field 'given' names 'z', which is no fact"},
      {"k", R"("fact": "k")", "equals", "16", R"("where": "z")",
       "field 'where' names 'z', which is no fact"},
      {"k", R"("fact": "k")", "equals", "16", R"("static_assert": "no")",
       "field 'static_assert' is \"no\", needed true or false"},
      {"k", R"("fact": "k")", "equals", "16", R"("unti": "token")",
       "field 'unti' is not known, needed one of id, fact, product"},
  };
  for (const Case &each : cases) {
    std::string limit;
    auto add = [&](const std::string &field) {
      if (!field.empty())
        limit += (limit.empty() ? "" : ", ") + field;
    };
    add(each.id.empty() ? "" : "\"id\": \"" + each.id + "\"");
    add(each.what);
    add("\"relation\": \"" + each.relation + "\"");
    add(each.value.empty() ? "" : "\"value\": " + each.value);
    add(each.rest);
    add(R"("reason": "r")");
    std::string text = wrap("[{" + limit + "}]");
    std::string error = errorOf(text);
    EXPECT_THAT(error, StartsWith("c.json: limit 1")) << text;
    EXPECT_THAT(error, HasSubstr(each.error)) << text;
  }
  EXPECT_THAT(errorOf(wrap(R"([{"id": "k", "fact": "k", "relation": "equals",
                                "value": 1}])")),
              HasSubstr("field 'reason' is missing"));
  std::string good = R"({"id": "k", "fact": "k", "relation": "equals",
                         "value": 1, "reason": "r"})";
  EXPECT_EQ(errorOf(wrap("[" + good + "]")), "accepted");
  EXPECT_EQ(errorOf(wrap("[" + good + "," + good + "]")),
            "c.json: limit 2 ('k'): field 'id' is there twice");
}

TEST(Contract, DamagedTextIsAnErrorNeverACrash) {
  std::mt19937 random(7);
  std::string text = find("aiter_msa")->toJson();
  for (int i = 0; i < 400; ++i) {
    std::string damaged = text;
    if (i % 2)
      damaged.resize(random() % text.size());
    else
      for (int j = 0; j < 4; ++j)
        damaged[random() % text.size()] = char(random());
    Result<Contract> contract = Contract::parse(damaged, "damaged");
    if (contract)
      EXPECT_TRUE(Contract::parse((*contract).toJson(), "again"));
    else
      EXPECT_THAT(contract.message(), StartsWith("damaged: "));
  }
  std::string deep(100000, '[');
  EXPECT_FALSE(Contract::parse(deep, "deep"));
}

} // namespace
