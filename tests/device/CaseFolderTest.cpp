// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file that takes cases to another machine comes back as it was, and one
// that was damaged on the way is refused with the case, the field, the value
// and what it may be.
#include "CaseFolder.h"

#include "winnow/Runtime/Files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

using namespace winnow;
using namespace winnow::test;
using nlohmann::json;
using testing::HasSubstr;

namespace {

class CaseFolderTest : public testing::Test {
protected:
  CaseFolderTest()
      : folder(testing::TempDir() + "/winnow-case-folder-" +
               testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder);
    CaseFolder made;
    made.arch = "sm_90";
    for (uint64_t seed : {7u, 8u}) {
      Inputs inputs;
      inputs.seed = UINT64_MAX - seed;
      inputs.lengths = tool::Lengths({100, -3}, {4, 0});
      inputs.keys = kLastValues;
      inputs.unmapped = 100;
      inputs.paddingRows = 2;
      inputs.scores = kLastScores;
      made.cases.push_back({seed,
                            1,
                            std::to_string(seed) + "-1.winnow",
                            "generic",
                            "a shape",
                            {inputs, inputs}});
    }
    EXPECT_TRUE(made.write(folder));
  }
  ~CaseFolderTest() override { std::filesystem::remove_all(folder); }

  json parsed() const {
    auto bytes = runtime::readFile(folder + "/cases.json", 1 << 20);
    EXPECT_TRUE(bytes) << bytes.message();
    const auto *text = reinterpret_cast<const char *>(bytes->data());
    return json::parse(text, text + bytes->size());
  }

  /// What is said of a file with another value at `place`.
  std::string refused(const char *place, const json &value) const {
    json all = parsed();
    all[json::json_pointer(place)] = value;
    return refusedText(all.dump());
  }
  std::string refusedText(const std::string &text) const {
    EXPECT_TRUE(runtime::writeFileAtomically(folder + "/cases.json", text));
    auto read = CaseFolder::read(folder);
    return read ? "it was accepted" : read.message();
  }

  const std::string folder;
};

TEST_F(CaseFolderTest, ComesBackAsItWas) {
  auto read = CaseFolder::read(folder);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(read->arch, "sm_90");
  ASSERT_EQ(read->cases.size(), 2u);
  const FolderCase &last = read->cases.back();
  EXPECT_EQ(last.bundle, "8-1.winnow");
  ASSERT_EQ(last.inputs.size(), 2u);
  EXPECT_EQ(last.inputs[1].seed, UINT64_MAX - 8);
  EXPECT_THAT(last.inputs[1].text(),
              HasSubstr("lengths [100, -3], new tokens [4, 0], keys: codes, "
                        "queries: bell, 100 % of the table"));
}

TEST_F(CaseFolderTest, NumbersOutOfRangeAreNamed) {
  const struct {
    const char *place;
    json value;
    const char *wanted;
  } cases[] = {
      {"/cases/1/inputs/0/keys", 11,
       "cases[1].inputs[0].keys: the number 11, wanted a whole number from 0 "
       "to 10"},
      {"/cases/1/inputs/1/queries", -1,
       "cases[1].inputs[1].queries: the number -1, wanted a whole number from "
       "0 to 10"},
      {"/cases/0/inputs/0/scores", 8,
       "cases[0].inputs[0].scores: the number 8, wanted a whole number from 0 "
       "to 7"},
      {"/cases/0/inputs/0/unmapped", 101,
       "cases[0].inputs[0].unmapped: the number 101, wanted a whole number "
       "from 0 to 100"},
      {"/cases/0/inputs/0/padding_rows", 2147483648,
       "padding_rows: the number 2147483648, wanted a whole number from 0 to "
       "2147483647"},
      {"/cases/0/inputs/0/tokens/1", 4294967296,
       "cases[0].inputs[0].tokens[1]: the number 4294967296, wanted a whole "
       "number from -2147483648 to 2147483647"},
      {"/cases/0/inputs/0/new_tokens/0", -1,
       "new_tokens[0]: the number -1, wanted a whole number from 0"},
      {"/cases/0/variant", 4294967297, "cases[0].variant: the number 4294967"},
      {"/cases/0/seed", -1,
       "cases[0].seed: the number -1, wanted a whole number from 0 to 2^64"},
      {"/format", 2, "format: the number 2, wanted 1"}};
  const std::string good = parsed().dump();
  for (const auto &each : cases) {
    EXPECT_THAT(refused(each.place, each.value), HasSubstr(each.wanted));
    ASSERT_THAT(refusedText(good), HasSubstr("accepted"));
  }
}

TEST_F(CaseFolderTest, FieldsOfAnotherKindAreNamed) {
  const std::string good = parsed().dump();
  const struct {
    const char *place;
    json value;
    const char *wanted;
  } cases[] = {
      {"/cases/1", 3, "cases[1]: the number 3, wanted an object"},
      {"/cases/1/inputs/0", json::array(),
       "cases[1].inputs[0]: an array of 0, wanted an object"},
      {"/cases/1/inputs/0/tokens", "7",
       "cases[1].inputs[0].tokens: the string '7', wanted an array"},
      {"/cases/1/inputs/0/new_tokens", json::array({1}),
       "cases[1].inputs[0].new_tokens: 1 of them, wanted none or one for each "
       "of 2 requests"},
      {"/cases/1/inputs/0/shared_pages", 1,
       "shared_pages: the number 1, wanted true or false"},
      {"/cases/1/inputs/0/unmapped", 2.5, "unmapped: the number 2.5"},
      {"/cases/1/bundle", "../b.winnow",
       "cases[1].bundle: '../b.winnow', wanted a file name of the folder"},
      {"/cases/1/shape", nullptr, "cases[1].shape: null, wanted a string"},
      {"/cases/1/sead", 3, "cases[1]: unknown field 'sead'"}};
  for (const auto &each : cases) {
    EXPECT_THAT(refused(each.place, each.value), HasSubstr(each.wanted));
    ASSERT_THAT(refusedText(good), HasSubstr("accepted"));
  }
  json missing = parsed();
  missing["cases"][1]["inputs"][0].erase("keys");
  EXPECT_THAT(refusedText(missing.dump()),
              HasSubstr("cases[1].inputs[0]: the field 'keys' is missing"));
  EXPECT_THAT(refusedText(good.substr(0, good.size() / 2)),
              HasSubstr("cases.json: not a valid JSON text: wrong at byte"));
}

} // namespace
