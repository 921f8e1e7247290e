// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files read and written whole. A reader never sees half of a file that these
// write, and every error gives the path and the system's reason.
//
// Everything here may be called from several threads, and for one path from
// several processes, at once.
#ifndef WINNOW_RUNTIME_FILES_H
#define WINNOW_RUNTIME_FILES_H

#include "winnow/Runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::runtime {

/// The whole file; more than `maxBytes` is an error.
Result<std::vector<std::byte>> readFile(const std::string &path,
                                        uint64_t maxBytes);

/// Puts `bytes` at `path`: a temporary name in the same folder, fsync, rename.
/// On an error the old file, if any, is as it was and nothing else is left. A
/// symbolic link is followed. Where the path is a device or a pipe
/// (/dev/stdout) the bytes are written to it instead.
Status writeFileAtomically(const std::string &path,
                           std::span<const std::byte> bytes);
Status writeFileAtomically(const std::string &path, std::string_view text);

/// Whether writeFileAtomically could begin, for whoever has much to do before
/// there are bytes. A temporary file is made beside `path` and removed.
Status checkWritable(const std::string &path);

/// Creates a folder and its parents; fine if it exists.
Status makeFolders(const std::string &path);

/// A private folder (mode 0700) that is removed with everything in it.
class TemporaryFolder {
public:
  /// In TMPDIR, or in /tmp.
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder &&other) noexcept;
  TemporaryFolder &operator=(TemporaryFolder &&other) noexcept;
  ~TemporaryFolder();

  const std::string &path() const { return folder; }

private:
  explicit TemporaryFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace winnow::runtime

#endif // WINNOW_RUNTIME_FILES_H
