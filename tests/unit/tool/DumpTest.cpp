// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dump read back as somebody else would: from launch.json alone.
#include "Dump.h"
#include "Inputs.h"
#include "Support.h"

#include "winnow/Runtime/Files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>

using namespace winnow;
using namespace winnow::tool;
using testing::HasSubstr;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

class Dump : public testing::Test {
protected:
  void SetUp() override {
    Result<runtime::TemporaryFolder> made = runtime::TemporaryFolder::make();
    ASSERT_TRUE(made);
    temporary.emplace(std::move(*made));
    folder = temporary->path() + "/a/dump";
    before = small.call({32, 9});
    after = before;
    ASSERT_TRUE(runOnHost(after));
    codes.push_back({.source = 0,
                     .arch = "gfx950",
                     .prebuilt = true,
                     .time = {},
                     .bytes = std::vector<std::byte>(9, std::byte{1}),
                     .object = nullptr});
  }
  Status write() {
    Result<std::vector<runtime::ResolvedLaunch>> launches =
        launchesOnHost(after);
    EXPECT_TRUE(launches);
    return writeDump(folder,
                     {small.bundle, before, after, codes, *launches, "host"});
  }
  std::vector<std::byte> file(const std::string &name) {
    Result<std::vector<std::byte>> bytes =
        runtime::readFile(folder + "/" + name, 1 << 20);
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.message());
    return bytes ? *bytes : std::vector<std::byte>();
  }
  Json summary() {
    const std::vector<std::byte> bytes = file("launch.json");
    return Json::parse(reinterpret_cast<const char *>(bytes.data()),
                       reinterpret_cast<const char *>(bytes.data()) +
                           bytes.size(),
                       nullptr, false);
  }

  Small small;
  Call before, after;
  std::vector<LoadedCode> codes;
  std::optional<runtime::TemporaryFolder> temporary;
  std::string folder;
};

TEST_F(Dump, SaysWhatEveryFileIs) {
  Status status = write();
  ASSERT_TRUE(status) << status.message();
  const Json json = summary();
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["format"], "winnow-dump");
  EXPECT_EQ(json["entry"], "small");
  EXPECT_EQ(json["facts"]["k"], 3);
  ASSERT_EQ(json["tensors"].size(), 9u);
  // The selection of head 1, row 3, slot 0, found by shape and strides.
  const Json &idx = json["tensors"][5];
  EXPECT_EQ(idx["name"], "idx");
  EXPECT_EQ(idx["kind"], "output");
  EXPECT_EQ(idx["dtype"], "i32");
  EXPECT_EQ(idx["shape"], Json({2, 4, 3}));
  const int64_t offset = 1 * idx["strides"][0].get<int64_t>() +
                         3 * idx["strides"][1].get<int64_t>();
  const std::vector<std::byte> stored = file(idx["file"]);
  ASSERT_EQ(stored.size(), idx["bytes"].get<size_t>());
  int32_t block;
  std::memcpy(&block, stored.data() + offset * 4, 4);
  EXPECT_EQ(block, after.selection()(1, 3, 0));
  EXPECT_EQ(file(idx["file_before"]),
            before.arguments[small.indexer.selection].bytes);
  for (const Json &tensor : json["tensors"])
    EXPECT_EQ(file(tensor["file"]).size(), tensor["bytes"].get<size_t>());
  EXPECT_EQ(json["code_objects"][0]["file"], "small.hip.gfx950.co");
  EXPECT_EQ(file("small.hip.gfx950.co").size(), 9u);

  const Json &launch = json["launches"][0];
  EXPECT_EQ(launch["kernel"], "small_score");
  EXPECT_EQ(launch["grid_workgroups"], Json({1, 2, 1}));
  EXPECT_EQ(launch["block"], Json({64, 1, 1}));
  EXPECT_EQ(launch["kernarg_bytes"], 16);
  EXPECT_EQ(
      launch["arguments"][0],
      Json(
          {{"offset", 0}, {"bytes", 8}, {"kind", "pointer"}, {"tensor", "q"}}));
  EXPECT_EQ(launch["arguments"][1]["offset"], 8);
  EXPECT_EQ(launch["arguments"][1]["kind"], "i64");
  EXPECT_EQ(launch["arguments"][1]["value"], 64);
}

TEST_F(Dump, TheInputsCanBeRunAgain) {
  ASSERT_TRUE(write());
  Result<Call> again =
      callFromFile(small.indexer, folder + "/inputs.safetensors");
  ASSERT_TRUE(again) << again.message();
  for (size_t i = 0; i < again->arguments.size(); ++i)
    EXPECT_EQ(again->arguments[i].bytes, before.arguments[i].bytes) << i;
}

TEST_F(Dump, AHalfMadeDumpHasNoSummary) {
  ASSERT_TRUE(write());
  ASSERT_TRUE(fs::exists(folder + "/launch.json"));
  // A folder stands where the last tensor but one has to go.
  fs::remove(folder + "/score.bin");
  fs::create_directory(folder + "/score.bin");
  Status status = write();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(),
            "cannot write '" + folder + "/score.bin': Is a directory");
  EXPECT_FALSE(fs::exists(folder + "/launch.json"));
}

TEST_F(Dump, AFileInPlaceOfTheFolderIsAnError) {
  ASSERT_TRUE(runtime::writeFileAtomically(temporary->path() + "/a", "x"));
  Status status = write();
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), HasSubstr("Not a directory"));
}

} // namespace
