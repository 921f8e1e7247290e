// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bundle file around manifest and blobs: header, checksum, ranges.
#include "winnow/Runtime/Bundle.h"
#include "ManifestJson.h"
#include "winnow/Runtime/Files.h"
#include "winnow/Runtime/Visible.h"

#include <cstdio>
#include <cstring>
#include <exception>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace winnow;
using namespace winnow::runtime;

namespace {

constexpr char kMagic[8] = {'W', 'I', 'N', 'N', 'O', 'W', 'B', '\n'};

/// Little-endian whatever the host is.
template <typename T> T load(std::span<const std::byte> bytes, size_t offset) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(std::to_integer<uint8_t>(bytes[offset + i]))
             << (8 * i);
  return value;
}

template <typename T>
void store(std::vector<std::byte> &bytes, size_t offset, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes[offset + i] = static_cast<std::byte>(value >> (8 * i));
}

uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%016llx",
                static_cast<unsigned long long>(value));
  return text;
}

/// An error quotes the bundle, which may hold anything.
Error problem(const std::string &what) {
  return Error{"bundle: " + visible(what)};
}

Result<std::span<const std::byte>> slice(std::span<const std::byte> blobs,
                                         const BlobRange &range,
                                         const std::string &where) {
  // Subtracting cannot wrap; adding could.
  if (range.offset > blobs.size() || range.bytes > blobs.size() - range.offset)
    return problem(where + ": " + std::to_string(range.bytes) +
                   " bytes at offset " + std::to_string(range.offset) + " of " +
                   std::to_string(blobs.size()) + " blob bytes");
  return blobs.subspan(range.offset, range.bytes);
}

Result<Bundle> read(std::span<const std::byte> bytes) {
  if (bytes.size() < kBundleHeaderBytes)
    return problem(std::to_string(bytes.size()) +
                   " bytes, shorter than the header of " +
                   std::to_string(kBundleHeaderBytes));
  if (!looksLikeBundle(bytes))
    return problem("the first 8 bytes are not 'WINNOWB\\n'");
  const auto version = load<uint32_t>(bytes, 8);
  if (version > kBundleVersion)
    return problem("format version " + std::to_string(version) +
                   " is newer than this runtime, which reads version " +
                   std::to_string(kBundleVersion));
  if (version != kBundleVersion)
    return problem("format version " + std::to_string(version) + ", wanted " +
                   std::to_string(kBundleVersion));
  if (const auto reserved = load<uint32_t>(bytes, 12); reserved != 0)
    return problem("the reserved header word is " + std::to_string(reserved) +
                   ", wanted 0");
  const auto manifestBytes = load<uint64_t>(bytes, 16);
  const auto body = bytes.subspan(kBundleHeaderBytes);
  if (manifestBytes > kMaxManifestBytes)
    return problem("a manifest of " + std::to_string(manifestBytes) +
                   " bytes, at most " + std::to_string(kMaxManifestBytes) +
                   " are allowed");
  if (manifestBytes > body.size())
    return problem("a manifest of " + std::to_string(manifestBytes) +
                   " bytes in a file with " + std::to_string(body.size()) +
                   " after the header: truncated");
  const auto wanted = load<uint64_t>(bytes, 24);
  if (const uint64_t found = checksum(body); found != wanted)
    return problem("the checksum of the content is " + hex(found) +
                   ", the header says " + hex(wanted) +
                   ": damaged or truncated");

  Result<Json> json =
      parseJson({reinterpret_cast<const char *>(body.data()), manifestBytes});
  if (!json)
    return problem("manifest: " + json.message());
  Result<ParsedManifest> manifest = manifestFromJson(*json);
  if (!manifest)
    return problem(manifest.message());

  Bundle &bundle = manifest->bundle;
  const auto blobs = body.subspan(manifestBytes);
  size_t next = 0;
  // Blobs may overlap: a hostile file could then ask for far more memory than
  // it has bytes.
  uint64_t total = 0;
  auto content = [&](const std::string &where) {
    const BlobRange &range = manifest->ranges[next++];
    auto found = slice(blobs, range, where);
    total += found ? range.bytes : 0;
    if (found && total > blobs.size())
      found = problem(where + ": the blobs overlap");
    return found;
  };
  for (size_t i = 0; i < bundle.sources.size(); ++i) {
    auto text = content("sources[" + std::to_string(i) + "]");
    if (!text)
      return text.takeError();
    bundle.sources[i].text.assign(reinterpret_cast<const char *>(text->data()),
                                  text->size());
  }
  for (size_t i = 0; i < bundle.codeObjects.size(); ++i) {
    auto code = content("code_objects[" + std::to_string(i) + "]");
    if (!code)
      return code.takeError();
    bundle.codeObjects[i].bytes.assign(code->begin(), code->end());
  }
  if (Status status = validate(bundle); !status)
    return problem("manifest: " + status.message());
  return std::move(bundle);
}

/// The ranges of the blobs laid end to end.
std::vector<BlobRange> layOut(const Bundle &bundle) {
  std::vector<BlobRange> ranges;
  uint64_t offset = 0;
  auto add = [&](uint64_t bytes) {
    ranges.push_back({offset, bytes});
    offset += bytes;
  };
  for (const Source &source : bundle.sources)
    add(source.text.size());
  for (const CodeObject &object : bundle.codeObjects)
    add(object.bytes.size());
  return ranges;
}

/// A manifest that its own reader accepts, as text.
Result<std::string> dump(const Bundle &bundle, int indent) {
  if (Status status = validate(bundle); !status)
    return problem("manifest: " + status.message());
  Result<Json> json = manifestToJson(bundle, layOut(bundle));
  if (!json)
    return problem("manifest: " + json.message());
  return json->dump(indent);
}

} // namespace

bool runtime::looksLikeBundle(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof kMagic &&
         std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0;
}

// The JSON library and the containers report by exception; none leaves here.
Result<Bundle> runtime::readBundle(std::span<const std::byte> bytes) {
  try {
    return read(bytes);
  } catch (const std::exception &exception) {
    return problem(exception.what());
  }
}

Result<Bundle> runtime::readBundleFile(const std::string &path) {
  Result<std::vector<std::byte>> bytes = readFile(path, kMaxBundleBytes);
  if (!bytes)
    return bytes.takeError();
  Result<Bundle> bundle = readBundle(*bytes);
  if (!bundle)
    return Error{path + ": " + bundle.message()};
  return bundle;
}

Result<std::vector<std::byte>> runtime::writeBundle(const Bundle &bundle) {
  try {
    Result<std::string> manifest = dump(bundle, -1);
    if (!manifest)
      return manifest.takeError();
    std::vector<std::byte> bytes(kBundleHeaderBytes);
    auto append = [&](const void *data, size_t size) {
      const auto *first = static_cast<const std::byte *>(data);
      bytes.insert(bytes.end(), first, first + size);
    };
    append(manifest->data(), manifest->size());
    for (const Source &source : bundle.sources)
      append(source.text.data(), source.text.size());
    for (const CodeObject &object : bundle.codeObjects)
      append(object.bytes.data(), object.bytes.size());
    if (manifest->size() > kMaxManifestBytes || bytes.size() > kMaxBundleBytes)
      return problem("a manifest of " + std::to_string(manifest->size()) +
                     " bytes in a file of " + std::to_string(bytes.size()) +
                     ", at most " + std::to_string(kMaxManifestBytes) +
                     " and " + std::to_string(kMaxBundleBytes) +
                     " are allowed");
    std::memcpy(bytes.data(), kMagic, sizeof kMagic);
    store<uint32_t>(bytes, 8, kBundleVersion);
    store<uint32_t>(bytes, 12, 0);
    store<uint64_t>(bytes, 16, manifest->size());
    store<uint64_t>(bytes, 24,
                    checksum(std::span(bytes).subspan(kBundleHeaderBytes)));
    return bytes;
  } catch (const std::exception &exception) {
    return problem(exception.what());
  }
}

Result<std::string> runtime::manifestText(const Bundle &bundle) {
  try {
    return dump(bundle, 2);
  } catch (const std::exception &exception) {
    return problem(exception.what());
  }
}
