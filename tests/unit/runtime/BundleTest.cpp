// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bundles there and back, and what each wrong field is answered with.
#include "Sample.h"
#include "winnow/Runtime/Files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace winnow;
using namespace winnow::runtime;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

std::vector<std::byte> bytesOf(const Bundle &bundle) {
  Result<std::vector<std::byte>> bytes = writeBundle(bundle);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.message());
  return bytes ? *bytes : std::vector<std::byte>();
}

std::string failure(std::span<const std::byte> bytes) {
  Result<Bundle> bundle = readBundle(bytes);
  return bundle ? "no error" : bundle.message();
}

/// A bundle file around any manifest text, with a right checksum.
std::vector<std::byte> wrap(const std::string &manifest,
                            const std::string &blobs = "") {
  std::string body = manifest + blobs;
  std::string file = std::string("WINNOWB\n") + std::string("\1\0\0\0", 4) +
                     std::string(4, '\0');
  const uint64_t words[2] = {manifest.size(),
                             XXH3_64bits(body.data(), body.size())};
  for (uint64_t word : words)
    for (int i = 0; i < 8; ++i)
      file.push_back(static_cast<char>(word >> (8 * i)));
  file += body;
  const auto *data = reinterpret_cast<const std::byte *>(file.data());
  return {data, data + file.size()};
}

/// The sample's manifest with one piece of its text exchanged.
std::string edited(const std::string &from, const std::string &to) {
  std::vector<std::byte> bytes = bytesOf(sampleBundle());
  uint64_t size;
  std::memcpy(&size, bytes.data() + 16, 8);
  std::string manifest(reinterpret_cast<const char *>(bytes.data()) + 32, size);
  std::string blobs(reinterpret_cast<const char *>(bytes.data()) + 32 + size,
                    bytes.size() - 32 - size);
  const size_t at = manifest.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << manifest;
  if (at != std::string::npos)
    manifest.replace(at, from.size(), to);
  return failure(wrap(manifest, blobs));
}

TEST(Bundle, RoundTrips) {
  const Bundle bundle = sampleBundle();
  const std::vector<std::byte> bytes = bytesOf(bundle);
  EXPECT_TRUE(looksLikeBundle(bytes));
  Result<Bundle> read = readBundle(bytes);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(*read, bundle);
  // The same bundle is the same bytes.
  EXPECT_EQ(bytesOf(*read), bytes);
}

TEST(Bundle, RoundTripsEveryKindOfField) {
  Bundle bundle = sampleBundle();
  Entry entry = sampleEntry();
  entry.name = "other";
  entry.contract.clear();
  entry.facts["negative"] = int64_t(-5);
  entry.facts["large"] = INT64_MAX;
  entry.facts["no"] = false;
  using Kind = Expression::Kind;
  entry.symbols.push_back({"a", Expression(Kind::Add, "rows", 3)});
  entry.symbols.push_back({"b", Expression(Kind::FloorDiv, "a", 3)});
  entry.symbols.push_back({"c", Expression(Kind::CeilDiv, "b", 3)});
  entry.symbols.push_back({"d", Expression(Kind::Mod, "c", 3)});
  entry.launches[0].grid[2] = Expression(Kind::Add, "d", 1);
  entry.arguments[4].access = Access::ReadWrite;
  entry.arguments[2].strides = {int64_t(1) << 40, 1};
  entry.arguments[4].strides = {kAnyStride, 0, 1};
  bundle.entries.push_back(entry);
  bundle.sources.push_back({"empty.hip", "generic", {"gfx90a", "gfx942"}, ""});
  Result<Bundle> read = readBundle(bytesOf(bundle));
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(*read, bundle);
  ASSERT_TRUE(read->find("other"));
  EXPECT_EQ((*read->find("other"))->name, "other");
  EXPECT_EQ(read->find("").message(),
            "the bundle has 2 entries, name one: m3_decode, other");
  EXPECT_EQ(read->find("nope").message(),
            "the bundle has no entry 'nope'; it has: m3_decode, other");
}

TEST(Bundle, FilesAreReadWithTheirPathInErrors) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/m3.winnow";
  const std::vector<std::byte> bytes = bytesOf(sampleBundle());
  ASSERT_TRUE(writeFileAtomically(path, bytes));
  Result<Bundle> read = readBundleFile(path);
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(*read, sampleBundle());
  ASSERT_TRUE(
      writeFileAtomically(path, std::span(bytes).first(bytes.size() - 1)));
  read = readBundleFile(path);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.message(), StartsWith(path + ": bundle: the checksum"));
  EXPECT_THAT(readBundleFile(path + "x").message(),
              HasSubstr("No such file or directory"));
}

TEST(Bundle, HeaderFieldsAreNamed) {
  std::vector<std::byte> bytes = bytesOf(sampleBundle());
  EXPECT_EQ(failure({}), "bundle: 0 bytes, shorter than the header of 32");
  EXPECT_EQ(failure(std::span(bytes).first(31)),
            "bundle: 31 bytes, shorter than the header of 32");
  auto with = [&](size_t offset, uint8_t value) {
    std::vector<std::byte> changed = bytes;
    changed[offset] = std::byte{value};
    return failure(changed);
  };
  EXPECT_EQ(with(0, 'w'), "bundle: the first 8 bytes are not 'WINNOWB\\n'");
  EXPECT_EQ(with(8, 2), "bundle: format version 2 is newer than this runtime, "
                        "which reads version 1");
  EXPECT_EQ(with(8, 0), "bundle: format version 0, wanted 1");
  EXPECT_EQ(with(12, 7), "bundle: the reserved header word is 7, wanted 0");
  EXPECT_THAT(with(23, 0xff), HasSubstr("at most 16777216 are allowed"));
  EXPECT_THAT(with(18, 0x7f), HasSubstr("after the header: truncated"));
  EXPECT_THAT(with(24, 0), HasSubstr("damaged or truncated"));
  EXPECT_THAT(with(bytes.size() - 1, 0), HasSubstr("the checksum of"));
}

TEST(Bundle, ManifestFieldsAreNamed) {
  EXPECT_EQ(edited("\"winnow-bundle\"", "\"zip\""),
            "bundle: manifest.format: 'zip', wanted 'winnow-bundle'");
  EXPECT_EQ(edited("\"version\":1", "\"version\":7"),
            "bundle: manifest.version: 7, wanted 1");
  EXPECT_EQ(edited("\"k\":16", "\"k\":16.5"),
            "bundle: manifest.entries[0].facts.k: the number 16.500000, wanted "
            "a whole number");
  EXPECT_EQ(edited("\"dtype\":\"i32\"", "\"dtype\":\"i33\""),
            "bundle: manifest.entries[0].arguments[2].dtype: 'i33', wanted one "
            "of f8E4M3FN, f8E5M2, bf16, f16, f32, i32");
  EXPECT_EQ(edited("\"role\":\"keys\"", "\"role\":\"key\""),
            "bundle: manifest.entries[0].arguments[1].role: 'key', wanted one "
            "of seq_lens, cu_seqlens, query, keys, index_table, attn_table, "
            "selection, pages, ctx, candidate_ids, candidate_scores, rank_ids, "
            "rank_scores, step");
  EXPECT_EQ(edited("\"block\":[256,1,1]", "\"block\":[256,1]"),
            "bundle: manifest.entries[0].launches[0].block: 2 axes, wanted 3");
  EXPECT_EQ(edited("[\"mul\",\"requests\",2]", "[\"div\",\"requests\",2]"),
            "bundle: manifest.entries[0].symbols.rows: unknown operation "
            "'div', wanted one of add, mul, floordiv, ceildiv, mod");
  EXPECT_EQ(edited("{\"dim\":[\"lens\",0]}", "{\"dim\":[\"lens\",4]}"),
            "bundle: manifest.entries[0].symbols.requests.dim: an array of 2, "
            "wanted [tensor name, axis below 4]");
  EXPECT_EQ(edited("\"layout\":\"rows\"", "\"lay\":\"rows\""),
            "bundle: manifest.entries[0].arguments[2]: the field 'layout' is "
            "missing");
  EXPECT_EQ(edited("\"max_seq_len\"", "\"extra\":1,\"max_seq_len\""),
            "bundle: manifest.entries[0].bounds: unknown field 'extra'");
  EXPECT_EQ(edited("\"max_requests\":256", "\"max_requests\":\"256\""),
            "bundle: manifest.entries[0].bounds.max_requests: the string "
            "'256', wanted a whole number");
  EXPECT_EQ(
      edited("\"max_requests\":256", "\"max_requests\":18446744073709551615"),
      "bundle: manifest.entries[0].bounds.max_requests: the number "
      "18446744073709551615, wanted a whole number");
  EXPECT_THAT(
      edited("\"bytes\":37", "\"bytes\":38"),
      HasSubstr("code_objects[0]: 38 bytes at offset 17 of 54 blob bytes"));
  EXPECT_THAT(edited("\"offset\":17", "\"offset\":18446744073709551615"),
              HasSubstr("code_objects[0].offset"));
  EXPECT_THAT(edited("\"bytes\":17", "\"bytes\":37"),
              HasSubstr("code_objects[0]: the blobs overlap"));
  EXPECT_THAT(edited("\"offset\":17", "\"offset\":-1"),
              HasSubstr("offset: -1, wanted at least 0"));
}

TEST(Bundle, TheManifestsPartsHaveToAgree) {
  EXPECT_EQ(edited("{\"tensor\":\"score\"}", "{\"tensor\":\"scores\"}"),
            "bundle: manifest: entries[0].launches[0].arguments[5]: unknown "
            "tensor 'scores'; known: idx, index_table, keys, lens, q, score");
  EXPECT_EQ(edited("{\"stride\":[\"score\",0]}", "{\"stride\":[\"score\",3]}"),
            "bundle: manifest: entries[0].launches[0].arguments[6]: axis of "
            "'score': 3 is not in [0, 2]");
  EXPECT_EQ(edited("\"grid\":[8,\"requests\",1]", "\"grid\":[8,\"r\",1]"),
            "bundle: manifest: entries[0].launches[0].grid[1]: unknown symbol "
            "'r'; known here: requests, rows");
  EXPECT_EQ(edited("\"block\":[512,1,1]", "\"block\":[512,3,1]"),
            "bundle: manifest: entries[0].launches[1].block: work items: 1536 "
            "is not in [1, 1024]");
  EXPECT_EQ(edited("\"dynamic_lds_bytes\":64", "\"dynamic_lds_bytes\":163841"),
            "bundle: manifest: entries[0].launches[1].dynamic_lds_bytes: "
            "163841 is not in [0, 163840]");
  EXPECT_EQ(edited("\"name\":\"keys\"", "\"name\":\"q\""),
            "bundle: manifest: entries[0].arguments[1].name: 'q' is there "
            "twice");
  EXPECT_EQ(edited("\"role\":\"keys\"", "\"role\":\"query\""),
            "bundle: manifest: entries[0].arguments[1].role: 'query' is there "
            "twice");
  EXPECT_THAT(edited("\"m3_decode.hip\"", "\"../m3.hip\""),
              HasSubstr("sources[0].name: '../m3.hip' has to start with"));
  EXPECT_THAT(edited("\"kernel\":\"m3_decode_score\"", "\"kernel\":\"a b\""),
              HasSubstr("launches[0].kernel: 'a b' is not an identifier"));
  EXPECT_THAT(edited("{\"kernel\":\"m3_decode_score\",\"source\":0",
                     "{\"kernel\":\"m3_decode_score\",\"source\":9"),
              HasSubstr("launches[0].source: 9, the bundle has 1 sources"));
}

TEST(Bundle, FixedStridesFitTheirArgument) {
  // The third argument is a table, two axes, "rows".
  auto with = [](const std::string &strides) {
    return edited("\"layout\":\"rows\"",
                  "\"layout\":\"rows\",\"strides\":" + strides);
  };
  const std::string at = "bundle: manifest: entries[0].arguments[2].strides";
  EXPECT_EQ(with("[1]"), at + ": 1 of them, wanted one for each of 2 axes");
  EXPECT_EQ(with("[8,2]"), at + "[1]: 2, wanted 1");
  EXPECT_EQ(with("[8,null]"), at + "[1]: -1, wanted 1");
  EXPECT_EQ(with("[-8,1]"),
            "bundle: manifest.entries[0].arguments[2].strides[0]: the number "
            "-8, wanted null or a whole number from 0 up");
  EXPECT_THAT(with("[\"x\",1]"), HasSubstr("strides[0]: the string 'x'"));
  EXPECT_THAT(edited("\"layout\":\"contiguous\"",
                     "\"layout\":\"contiguous\",\"strides\":[128,128,1]"),
              HasSubstr("arguments[0].strides: given, but the layout is "
                        "contiguous"));
}

TEST(Bundle, SymbolsAreDefinedBeforeUse) {
  Bundle bundle = sampleBundle();
  std::swap(bundle.entries[0].symbols[0], bundle.entries[0].symbols[1]);
  Result<std::vector<std::byte>> bytes = writeBundle(bundle);
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.message(), "bundle: manifest: entries[0].symbols.rows: "
                             "unknown symbol 'requests'; known here: none");
}

TEST(Bundle, TheWriterRefusesWhatTheReaderWould) {
  Bundle bundle = sampleBundle();
  bundle.entries[0].contract = "{\"name\":";
  EXPECT_THAT(writeBundle(bundle).message(),
              HasSubstr("entries[0].contract: not a valid JSON text"));
  bundle = sampleBundle();
  bundle.entries[0].launches[0].grid[0].operands.resize(1);
  bundle.entries[0].launches[0].grid[0].kind = Expression::Kind::Add;
  EXPECT_THAT(writeBundle(bundle).message(),
              HasSubstr("'add' has 1 operands, wanted 2"));
  bundle = sampleBundle();
  bundle.generator = "\xff\xfe";
  EXPECT_FALSE(writeBundle(bundle)); // not UTF-8
  EXPECT_THAT(writeBundle(Bundle()).message(),
              HasSubstr("entries: none, wanted at least 1"));
}

TEST(Bundle, JsonIsBounded) {
  EXPECT_THAT(failure(wrap("")), HasSubstr("manifest: not a valid JSON text"));
  EXPECT_THAT(failure(wrap("{\"format\":}")),
              HasSubstr("wrong at byte 11 of 11"));
  EXPECT_THAT(failure(wrap("[]")),
              HasSubstr("manifest: an array of 0, wanted an object"));
  EXPECT_THAT(failure(wrap("{\"format\":\"\xff\"}")),
              HasSubstr("not a valid JSON text"));
  EXPECT_THAT(failure(wrap("{\"format\":1,\"format\":2}")),
              HasSubstr("the key 'format' stands twice"));
  for (const char *open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 200000; ++i)
      deep += open;
    EXPECT_THAT(failure(wrap(deep)), HasSubstr("nested deeper than 64"));
  }
  std::string nested = "1";
  for (int i = 0; i < 20; ++i)
    nested.insert(0, "[\"add\",").append(",1]");
  EXPECT_THAT(edited("[\"mul\",\"requests\",2]", nested),
              HasSubstr("an expression nested deeper than 16"));
}

TEST(Bundle, TheManifestReadsAsText) {
  Result<std::string> text = manifestText(sampleBundle());
  ASSERT_TRUE(text) << text.message();
  EXPECT_THAT(*text, HasSubstr("\"name\": \"m3_decode\""));
  EXPECT_THAT(*text, StartsWith("{\n  \"format\": \"winnow-bundle\",\n"));
}

} // namespace
