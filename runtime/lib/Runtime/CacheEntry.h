// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One cached code object as a file that says all about itself, and the keys
// that name it.
//
// Layout, little-endian: 8 bytes "WINNOWK\n", u32 format version, u32 zero, the
// key (32 bytes), u64 lengths of the description, the code and the log, SHA-256
// of everything but itself (32 bytes), the description (JSON), code, log.
#ifndef WINNOW_LIB_RUNTIME_CACHEENTRY_H
#define WINNOW_LIB_RUNTIME_CACHEENTRY_H

#include "CodeObjectInfo.h"
#include "Digest.h"
#include "winnow/Runtime/Bundle.h"
#include "winnow/Runtime/KernelCache.h"

#include <string>
#include <vector>

namespace winnow::runtime {

inline constexpr uint32_t kCacheFormat = 1;
inline constexpr size_t kEntryHeaderBytes = 104;
inline constexpr uint64_t kMaxEntryBytes = uint64_t(256) << 20;

/// Versions that part otherwise equal programs.
struct KeyVersions {
  uint32_t bundle = kBundleVersion;
  uint32_t abi = kKernelAbiVersion;
};

/// What is compiled, whoever compiles it: name, text, full target, versions.
Digest programDigest(const Source &source, const std::string &arch,
                     const KeyVersions &versions = {});
/// A program and the identity of its compiler, options and all.
Digest keyDigest(const Digest &program, const std::string &compiler);

struct CacheEntry {
  Digest program = {}, key = {};
  std::string source, arch, compiler;
  std::vector<KernelResources> kernels;
  std::vector<std::byte> code;
  std::string log;
};

std::vector<std::byte> encodeEntry(const CacheEntry &entry);

/// Reads a file's bytes, trusting none of them. With `expected`, the entry has
/// to be for that key. An error says what is wrong: too short, another version,
/// another key, a checksum, code for another architecture.
Result<CacheEntry> decodeEntry(std::span<const std::byte> bytes,
                               const Digest *expected = nullptr);

/// "PROGRAM-KEY.kernel", hexadecimal: entries of one program sort together.
std::string entryFileName(const Digest &program, const Digest &key);
/// How the file names of a program's entries start.
std::string entryPrefix(const Digest &program);
bool looksLikeEntryName(std::string_view name);

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_CACHEENTRY_H
