// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bundle file: the only thing that passes from compiler to runtime.
//
// Layout, little-endian: 8 bytes "WINNOWB\n", u32 format version, u32 zero,
// u64 manifest bytes, u64 XXH3-64 of everything after this 32-byte header, the
// manifest (JSON, UTF-8), then the blobs it points at, counted from the first
// byte after the manifest.
//
// Everything here may be called from several threads at once; no exception
// leaves it.
#ifndef WINNOW_RUNTIME_BUNDLE_H
#define WINNOW_RUNTIME_BUNDLE_H

#include "winnow/Runtime/Manifest.h"

#include <span>
#include <string>
#include <vector>

namespace winnow::runtime {

inline constexpr uint32_t kBundleVersion = 1;
inline constexpr size_t kBundleHeaderBytes = 32;
/// Larger manifests and files are refused before they are read.
inline constexpr uint64_t kMaxManifestBytes = uint64_t(16) << 20;
inline constexpr uint64_t kMaxBundleBytes = uint64_t(1) << 30;

/// Whether bytes start as a bundle does (a description never does).
bool looksLikeBundle(std::span<const std::byte> bytes);

/// Reads a bundle. Every size, offset, version, checksum and field is checked:
/// truncated, hostile or random bytes are an error that names the field and the
/// values, and a newer format version is refused by its number.
Result<Bundle> readBundle(std::span<const std::byte> bytes);

/// The same from a file; errors start with the path.
Result<Bundle> readBundleFile(const std::string &path);

/// The file's bytes; the same bundle gives the same bytes. A bundle that
/// `validate` refuses is an error.
Result<std::vector<std::byte>> writeBundle(const Bundle &bundle);

/// The manifest alone, indented, as people read it.
Result<std::string> manifestText(const Bundle &bundle);

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_BUNDLE_H
