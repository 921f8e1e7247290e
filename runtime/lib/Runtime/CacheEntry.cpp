// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CacheEntry.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

using namespace winnow;
using namespace winnow::runtime;
using Json = nlohmann::ordered_json;

namespace {

constexpr char kMagic[8] = {'W', 'I', 'N', 'N', 'O', 'W', 'K', '\n'};
constexpr size_t kVersionAt = 8, kKeyAt = 16, kLengthsAt = 48, kChecksumAt = 72;
constexpr char kSuffix[] = ".kernel";
constexpr size_t kProgramHex = 32, kKeyHex = 64;

template <typename T>
void store(std::vector<std::byte> &bytes, size_t offset, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes[offset + i] = static_cast<std::byte>(value >> (8 * i));
}

template <typename T> T load(std::span<const std::byte> bytes, size_t offset) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(
        value | static_cast<T>(std::to_integer<uint8_t>(bytes[offset + i]))
                    << (8 * i));
  return value;
}

Digest checksum(std::span<const std::byte> bytes) {
  return Digester()
      .field(bytes.first(kChecksumAt))
      .field(bytes.subspan(kEntryHeaderBytes))
      .digest();
}

Json describe(const CacheEntry &entry) {
  Json kernels = Json::array();
  for (const KernelResources &kernel : entry.kernels)
    kernels.push_back({{"name", kernel.name},
                       {"lds_bytes", kernel.ldsBytes},
                       {"scratch_bytes", kernel.scratchBytes},
                       {"kernarg_bytes", kernel.kernargBytes},
                       {"vgprs", kernel.vgprs}});
  return {{"source", entry.source},
          {"arch", entry.arch},
          {"compiler", entry.compiler},
          {"program", hexText(entry.program)},
          {"bundle_version", kBundleVersion},
          {"abi_version", kKernelAbiVersion},
          {"kernels", kernels}};
}

/// A text field of the description; empty if there is none.
std::string text(const Json &json, const char *name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_string() ? at->get<std::string>() : "";
}

bool parseHex(const std::string &hex, Digest &digest) {
  if (hex.size() != 2 * digest.size())
    return false;
  for (size_t i = 0; i < hex.size(); ++i) {
    const char *digits = "0123456789abcdef";
    const char *at = std::strchr(digits, hex[i]);
    if (!hex[i] || !at)
      return false;
    const auto value = static_cast<uint8_t>(at - digits);
    digest[i / 2] =
        static_cast<uint8_t>(i % 2 ? digest[i / 2] | value : value << 4);
  }
  return true;
}

/// What the checksum cannot tell: an entry written by a program that is wrong.
Status checkDescription(CacheEntry &entry, std::span<const std::byte> bytes) {
  const auto *begin = reinterpret_cast<const char *>(bytes.data());
  const Json json =
      Json::parse(begin, begin + bytes.size(), nullptr, /*exceptions=*/false);
  if (!json.is_object())
    return Error{"its description is not a JSON object"};
  entry.source = text(json, "source");
  entry.arch = text(json, "arch");
  entry.compiler = text(json, "compiler");
  if (!parseHex(text(json, "program"), entry.program))
    return Error{"its description names no program"};
  if (keyDigest(entry.program, entry.compiler) != entry.key)
    return Error{"its key is not that of its program and compiler"};
  return {};
}

} // namespace

Digest runtime::programDigest(const Source &source, const std::string &arch,
                              const KeyVersions &versions) {
  return Digester()
      .field("winnow program")
      .field(kCacheFormat)
      .field(versions.bundle)
      .field(versions.abi)
      .field(source.name)
      .field(source.text)
      .field(arch)
      .digest();
}

Digest runtime::keyDigest(const Digest &program, const std::string &compiler) {
  return Digester()
      .field("winnow kernel")
      .field(std::as_bytes(std::span(program)))
      .field(compiler)
      .digest();
}

std::vector<std::byte> runtime::encodeEntry(const CacheEntry &entry) {
  const std::string description =
      describe(entry).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::byte> bytes(kEntryHeaderBytes);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  store<uint32_t>(bytes, kVersionAt, kCacheFormat);
  std::memcpy(bytes.data() + kKeyAt, entry.key.data(), entry.key.size());
  store<uint64_t>(bytes, kLengthsAt, description.size());
  store<uint64_t>(bytes, kLengthsAt + 8, entry.code.size());
  store<uint64_t>(bytes, kLengthsAt + 16, entry.log.size());
  auto append = [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  };
  append(std::as_bytes(std::span(description.data(), description.size())));
  append(entry.code);
  append(std::as_bytes(std::span(entry.log.data(), entry.log.size())));
  const Digest digest = checksum(bytes);
  std::memcpy(bytes.data() + kChecksumAt, digest.data(), digest.size());
  return bytes;
}

Result<CacheEntry> runtime::decodeEntry(std::span<const std::byte> bytes,
                                        const Digest *expected) {
  if (bytes.size() < kEntryHeaderBytes)
    return Error{std::to_string(bytes.size()) +
                 " bytes, fewer than the header's " +
                 std::to_string(kEntryHeaderBytes)};
  if (std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return Error{"it is no cache entry"};
  const uint32_t version = load<uint32_t>(bytes, kVersionAt);
  if (version != kCacheFormat)
    return Error{"format version " + std::to_string(version) + ", wanted " +
                 std::to_string(kCacheFormat)};
  uint64_t lengths[3], total = kEntryHeaderBytes;
  for (int i = 0; i < 3; ++i) {
    lengths[i] = load<uint64_t>(bytes, kLengthsAt + 8 * i);
    if (lengths[i] > kMaxEntryBytes)
      return Error{"a length of " + std::to_string(lengths[i]) + " bytes"};
    total += lengths[i];
  }
  if (total != bytes.size())
    return Error{std::to_string(bytes.size()) + " bytes, its header says " +
                 std::to_string(total)};
  const Digest digest = checksum(bytes);
  if (std::memcmp(bytes.data() + kChecksumAt, digest.data(), digest.size()) !=
      0)
    return Error{"its checksum does not match"};
  CacheEntry entry;
  std::memcpy(entry.key.data(), bytes.data() + kKeyAt, entry.key.size());
  if (expected && entry.key != *expected)
    return Error{"its key is " + hexText(entry.key) + ", wanted " +
                 hexText(*expected)};
  if (Status status =
          checkDescription(entry, bytes.subspan(kEntryHeaderBytes, lengths[0]));
      !status)
    return status.takeError();
  const auto code = bytes.subspan(kEntryHeaderBytes + lengths[0], lengths[1]);
  Result<CodeObjectInfo> info = readCodeObject(code, entry.arch);
  if (!info)
    return info.takeError();
  entry.kernels = std::move(info->kernels);
  entry.code.assign(code.begin(), code.end());
  const auto log = bytes.subspan(bytes.size() - lengths[2]);
  entry.log.assign(reinterpret_cast<const char *>(log.data()), log.size());
  return entry;
}

std::string runtime::entryPrefix(const Digest &program) {
  return hexText(program).substr(0, kProgramHex) + "-";
}

std::string runtime::entryFileName(const Digest &program, const Digest &key) {
  return entryPrefix(program) + hexText(key) + kSuffix;
}

bool runtime::looksLikeEntryName(std::string_view name) {
  return name.size() == kProgramHex + 1 + kKeyHex + sizeof kSuffix - 1 &&
         name[kProgramHex] == '-' && name.ends_with(kSuffix);
}
