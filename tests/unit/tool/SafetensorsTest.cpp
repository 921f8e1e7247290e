// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// safetensors there and back, and files that are not what they say.
#include "Safetensors.h"

#include "winnow/Runtime/Files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

using namespace winnow;
using namespace winnow::tool;
using runtime::DType;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

std::vector<std::byte> bytesOf(const std::string &text) {
  const auto *data = reinterpret_cast<const std::byte *>(text.data());
  return {data, data + text.size()};
}

/// A file around any header.
std::vector<std::byte> wrap(const std::string &header,
                            const std::string &data = "") {
  std::string file;
  for (int shift = 0; shift < 64; shift += 8)
    file.push_back(static_cast<char>(uint64_t(header.size()) >> shift));
  return bytesOf(file + header + data);
}

std::string failure(const std::vector<std::byte> &file) {
  Result<std::vector<SafeTensor>> tensors = parseSafetensors(file);
  return tensors ? "no error" : tensors.message();
}

std::vector<SafeTensor> sample() {
  return {{"q", DType::F8E4M3FN, {2, 3}, bytesOf("abcdef")},
          {"lens", DType::I32, {1}, bytesOf("1234")},
          {"none", DType::F32, {0, 7}, {}},
          {"one", DType::BF16, {}, bytesOf("xy")}};
}

TEST(Safetensors, RoundTrips) {
  Result<std::vector<std::byte>> file = writeSafetensors(sample());
  ASSERT_TRUE(file) << file.message();
  Result<std::vector<SafeTensor>> read = parseSafetensors(*file);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(*read, sample());
}

TEST(Safetensors, ReadsAFileAsOthersWriteIt) {
  Result<std::vector<SafeTensor>> read = parseSafetensors(
      wrap(R"({"__metadata__":{"format":"pt"},)"
           R"("b":{"dtype":"I32","shape":[1,2],"data_offsets":[3,11]},)"
           R"("a":{"dtype":"F8_E4M3","shape":[3],"data_offsets":[0,3]}}   )",
           "abc12345678"));
  ASSERT_TRUE(read) << read.message();
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0],
            (SafeTensor{"b", DType::I32, {1, 2}, bytesOf("12345678")}));
  EXPECT_EQ((*read)[1],
            (SafeTensor{"a", DType::F8E4M3FN, {3}, bytesOf("abc")}));
}

TEST(Safetensors, WrongFieldsAreNamed) {
  EXPECT_THAT(failure({}), HasSubstr("0 bytes, shorter than"));
  EXPECT_EQ(failure(bytesOf("\xff\xff\xff\xff\xff\xff\xff\xff{}")),
            "safetensors: a header of 18446744073709551615 bytes in a file of "
            "10");
  EXPECT_THAT(failure(wrap("[]")), HasSubstr("not a JSON object"));
  EXPECT_THAT(failure(wrap("{")), HasSubstr("not a JSON object"));
  EXPECT_THAT(failure(wrap(R"({"a":1})")),
              HasSubstr("tensor 'a': 1, wanted an object"));
  auto one = [](const std::string &fields) {
    return failure(wrap("{\"a\":{" + fields + "}}", "12345678"));
  };
  EXPECT_THAT(one(R"("dtype":"I64","shape":[1],"data_offsets":[0,8])"),
              HasSubstr("tensor 'a': dtype \"I64\", wanted one of F8_E4M3"));
  EXPECT_THAT(one(R"("shape":[1],"data_offsets":[0,8])"),
              HasSubstr("dtype missing"));
  EXPECT_THAT(one(R"("dtype":"I32","shape":[-2],"data_offsets":[0,8])"),
              HasSubstr("shape [-2]"));
  EXPECT_THAT(
      one(R"("dtype":"I32","shape":[4611686018427387904,4],"data_offsets":[0,8])"),
      HasSubstr("wanted sizes whose product fits 64 bits"));
  EXPECT_THAT(one(R"("dtype":"I32","shape":[1,1,1,1,2],"data_offsets":[0,8])"),
              HasSubstr("wanted an array of at most 4"));
  EXPECT_THAT(one(R"("dtype":"I32","shape":[2],"data_offsets":[0,9])"),
              HasSubstr("data_offsets [0,9] in a file with 8 bytes of data"));
  EXPECT_THAT(one(R"("dtype":"I32","shape":[2],"data_offsets":[8,0])"),
              HasSubstr("data_offsets [8,0]"));
  EXPECT_THAT(one(R"("dtype":"I32","shape":[1],"data_offsets":[0,8])"),
              HasSubstr("shape [1] of \"I32\" takes 4 bytes, data_offsets give "
                        "8"));
  EXPECT_THAT(one(R"("dtype":"I32","shape":[2],"data_offsets":[0,8],"x":1)"),
              HasSubstr("tensor 'a': unknown field 'x'"));
  const std::string entry =
      R"({"dtype":"I32","shape":[2],"data_offsets":[0,8]})";
  EXPECT_THAT(
      failure(wrap("{\"a\":" + entry + ",\"b\":" + entry + "}", "12345678")),
      HasSubstr("tensor 'b' overlaps another one"));
  EXPECT_THAT(
      failure(wrap("{\"a\":" + entry + ",\"a\":" + entry + "}", "12345678")),
      HasSubstr("names a tensor twice"));
  EXPECT_THAT(failure(wrap(std::string(100000, '['))),
              HasSubstr("not a JSON object"));
}

TEST(Safetensors, DamagedFilesNeverCrash) {
  const std::vector<std::byte> whole = *writeSafetensors(sample());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parseSafetensors(
        std::vector<std::byte>(whole.begin(), whole.begin() + size)))
        << size;
  // Predictable on purpose: a failure has to come back.
  // NOLINTNEXTLINE(bugprone-random-generator-seed)
  std::mt19937 random(5);
  const std::string alphabet = "{}[]\",:0123456789-\\n \xff";
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes = whole;
    for (int edit = 0; edit < 3; ++edit)
      bytes[random() % bytes.size()] =
          static_cast<std::byte>(alphabet[random() % alphabet.size()]);
    Result<std::vector<SafeTensor>> read = parseSafetensors(bytes);
    if (!read) {
      EXPECT_THAT(read.message(), StartsWith("safetensors: "));
    }
  }
}

TEST(Safetensors, FilesAreNamedInErrors) {
  EXPECT_EQ(readSafetensors("/no/such").message(),
            "cannot read '/no/such': No such file or directory");
}

} // namespace
