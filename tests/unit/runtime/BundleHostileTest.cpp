// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damaged and made-up bundles: always an error with a text, never a crash and
// never a bundle that differs from the one that was written.
#include "Sample.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace winnow;
using namespace winnow::runtime;

namespace {

std::vector<std::byte> sample() {
  Result<std::vector<std::byte>> bytes = writeBundle(sampleBundle());
  EXPECT_TRUE(bytes);
  return *bytes;
}

/// Makes the checksum right again, so that damage reaches the code behind it.
void seal(std::vector<std::byte> &bytes) {
  if (bytes.size() < kBundleHeaderBytes)
    return;
  const uint64_t sum = XXH3_64bits(bytes.data() + kBundleHeaderBytes,
                                   bytes.size() - kBundleHeaderBytes);
  std::memcpy(bytes.data() + 24, &sum, sizeof sum);
}

TEST(HostileBundle, EveryTruncationIsRefused) {
  const std::vector<std::byte> bytes = sample();
  for (size_t size = 0; size < bytes.size(); ++size) {
    Result<Bundle> read = readBundle(std::span(bytes).first(size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.message().rfind("bundle: ", 0), 0u) << read.message();
  }
}

TEST(HostileBundle, EveryFlippedBitIsRefused) {
  std::vector<std::byte> bytes = sample();
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    ASSERT_FALSE(readBundle(bytes)) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(HostileBundle, DamageBehindARightChecksumNeverCrashes) {
  const std::vector<std::byte> whole = sample();
  int accepted = 0, refused = 0;
  for (size_t bit = kBundleHeaderBytes * 8; bit < whole.size() * 8; ++bit) {
    std::vector<std::byte> bytes = whole;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    seal(bytes);
    Result<Bundle> read = readBundle(bytes);
    // A changed number or name may still be a valid bundle; then it is one
    // that can be written again.
    if (read) {
      ++accepted;
      EXPECT_TRUE(writeBundle(*read)) << "bit " << bit;
    } else {
      ++refused;
      EXPECT_FALSE(read.message().empty());
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 0);
}

TEST(HostileBundle, SealedTruncationsAndManifestSizesNeverCrash) {
  const std::vector<std::byte> whole = sample();
  for (size_t size = kBundleHeaderBytes; size < whole.size(); ++size) {
    std::vector<std::byte> bytes(whole.begin(), whole.begin() + size);
    seal(bytes);
    EXPECT_FALSE(readBundle(bytes)) << size;
    bytes = whole;
    uint64_t manifest = size;
    std::memcpy(bytes.data() + 16, &manifest, sizeof manifest);
    uint64_t original;
    std::memcpy(&original, whole.data() + 16, sizeof original);
    EXPECT_EQ(static_cast<bool>(readBundle(bytes)), manifest == original)
        << size;
  }
}

TEST(HostileBundle, RandomEditsNeverCrash) {
  const std::vector<std::byte> whole = sample();
  // Predictable on purpose: a failure has to come back.
  // NOLINTNEXTLINE(bugprone-random-generator-seed)
  std::mt19937 random(20);
  // Bytes that mean something to the parser are met more often than others.
  const std::string alphabet = "{}[]\",:0123456789-eE.\\tfn \x80\xff";
  for (int round = 0; round < 4000; ++round) {
    std::vector<std::byte> bytes = whole;
    const int edits = 1 + static_cast<int>(random() % 6);
    for (int i = 0; i < edits; ++i) {
      const size_t at = 8 + random() % (bytes.size() - 8);
      const auto value =
          static_cast<std::byte>(alphabet[random() % alphabet.size()]);
      switch (random() % 4) {
      case 0:
        bytes[at] = value;
        break;
      case 1:
        bytes.insert(bytes.begin() + static_cast<long>(at), value);
        break;
      case 2:
        bytes.erase(bytes.begin() + static_cast<long>(at));
        break;
      default: { // a piece of the file copied elsewhere
        const size_t from = random() % bytes.size();
        const size_t count = std::min<size_t>(
            {random() % 64, bytes.size() - from, bytes.size() - at});
        std::vector<std::byte> piece(bytes.begin() + static_cast<long>(from),
                                     bytes.begin() +
                                         static_cast<long>(from + count));
        std::copy(piece.begin(), piece.end(),
                  bytes.begin() + static_cast<long>(at));
        break;
      }
      }
    }
    // Half of them keep a header that leads deep into the reader.
    if (random() % 2)
      std::copy(whole.begin(), whole.begin() + 16, bytes.begin());
    seal(bytes);
    Result<Bundle> read = readBundle(bytes);
    if (!read) {
      EXPECT_FALSE(read.message().empty());
    }
  }
}

TEST(HostileBundle, RandomBytesAreRefused) {
  // Predictable on purpose: a failure has to come back.
  // NOLINTNEXTLINE(bugprone-random-generator-seed)
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::byte> bytes(random() % 300);
    for (std::byte &byte : bytes)
      byte = static_cast<std::byte>(random());
    EXPECT_FALSE(readBundle(bytes));
  }
}

} // namespace
