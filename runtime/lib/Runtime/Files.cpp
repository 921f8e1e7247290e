// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole-file reading and atomic writing over POSIX calls.
#include "winnow/Runtime/Files.h"
#include "Posix.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
namespace fs = std::filesystem;

namespace {

Error problem(const char *what, const std::string &path, int code) {
  return Error{std::string("cannot ") + what + " '" + path +
               "': " + reason(code)};
}

int openRetrying(const char *path, int flags, mode_t mode = 0) {
  int fd;
  do
    fd = ::open(path, flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/// A name that no other writer uses: O_EXCL makes sure of it, the process id
/// and the counter make a second try rare.
Result<std::pair<std::string, int>> openTemporary(const fs::path &target) {
  static std::atomic<uint64_t> counter{0};
  // A file name has at most 255 bytes; the target's own may use them all.
  const std::string base = target.filename().string().substr(0, 200);
  int code = 0;
  for (int attempt = 0; attempt < 100; ++attempt) {
    fs::path path = target;
    path.replace_filename("." + base + "." + std::to_string(::getpid()) + "." +
                          std::to_string(counter++) + ".tmp");
    // 0666 and the umask, as for any other new file.
    int fd = openRetrying(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd >= 0)
      return std::pair(path.string(), fd);
    code = errno;
    if (code != EEXIST)
      break;
  }
  return Error{reason(code)};
}

/// Follows links to the file that is to be replaced, which need not exist yet.
/// 0, or the error number.
int followLinks(std::string &target) {
  constexpr int mostLinks = 40; // as Linux does, path_resolution(7)
  for (int links = 0;; ++links) {
    std::error_code code;
    const fs::file_status status = fs::symlink_status(target, code);
    if (status.type() != fs::file_type::symlink)
      return 0;
    if (links == mostLinks)
      return ELOOP;
    const fs::path next = fs::read_symlink(target, code);
    if (code)
      return code.value();
    target = (fs::path(target).parent_path() / next).string();
  }
}

Status writeInPlace(const std::string &path, std::span<const std::byte> bytes) {
  Descriptor file(openRetrying(path.c_str(), O_WRONLY));
  if (file.get() < 0)
    return problem("write", path, errno);
  if (int code = writeAll(file.get(), bytes))
    return problem("write", path, code);
  if (file.close() != 0)
    return problem("write", path, errno);
  return {};
}

} // namespace

Result<std::vector<std::byte>> runtime::readFile(const std::string &path,
                                                 uint64_t maxBytes) {
  Descriptor file(openRetrying(path.c_str(), O_RDONLY));
  if (file.get() < 0)
    return problem("read", path, errno);
  std::vector<std::byte> bytes;
  // The size is only a hint: pipes and /proc files say 0.
  struct stat info;
  uint64_t hint = 0;
  if (::fstat(file.get(), &info) == 0 && info.st_size > 0)
    hint = std::min<uint64_t>(static_cast<uint64_t>(info.st_size), maxBytes);
  bytes.reserve(hint);
  // No larger than the file, and a byte to see its end: clearing a megabyte
  // takes longer than reading a small one.
  std::vector<std::byte> chunk(
      std::clamp<uint64_t>(hint + 1, size_t(1) << 14, size_t(1) << 20));
  while (true) {
    ssize_t count = ::read(file.get(), chunk.data(), chunk.size());
    if (count < 0) {
      if (errno == EINTR)
        continue;
      return problem("read", path, errno);
    }
    if (count == 0)
      return bytes;
    if (bytes.size() + static_cast<size_t>(count) > maxBytes)
      return Error{"cannot read '" + path + "': larger than " +
                   std::to_string(maxBytes) + " bytes"};
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + count);
  }
}

/// Devices and pipes: renaming onto one would replace it.
static bool isWrittenInPlace(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode) &&
         !S_ISREG(info.st_mode);
}

/// Makes a temporary file beside what is to be written or replaced, to which
/// `target` is set.
static Result<std::pair<std::string, int>> openBeside(const std::string &path,
                                                      std::string &target) {
  target = path;
  if (std::error_code ignored; fs::is_directory(path, ignored))
    return problem("write", path, EISDIR);
  if (int code = followLinks(target))
    return problem("write", path, code);
  if (fs::path(target).filename().empty())
    return problem("write", path, path.empty() ? ENOENT : EISDIR);
  Result<std::pair<std::string, int>> temporary = openTemporary(target);
  if (!temporary)
    return Error{"cannot write '" + path + "': " + temporary.message()};
  return temporary;
}

Status runtime::checkWritable(const std::string &path) {
  if (isWrittenInPlace(path))
    return ::access(path.c_str(), W_OK) == 0 ? Status()
                                             : problem("write", path, errno);
  std::string target;
  Result<std::pair<std::string, int>> temporary = openBeside(path, target);
  if (!temporary)
    return temporary.takeError();
  Descriptor file(temporary->second);
  ::unlink(temporary->first.c_str());
  return {};
}

Status runtime::writeFileAtomically(const std::string &path,
                                    std::span<const std::byte> bytes) {
  if (isWrittenInPlace(path))
    return writeInPlace(path, bytes);
  std::string target;
  Result<std::pair<std::string, int>> temporary = openBeside(path, target);
  if (!temporary)
    return temporary.takeError();
  Descriptor file(temporary->second);
  int code = writeAll(file.get(), bytes);
  if (code == 0 && ::fsync(file.get()) != 0)
    code = errno;
  if (file.close() != 0 && code == 0)
    code = errno;
  if (code == 0 && ::rename(temporary->first.c_str(), target.c_str()) != 0)
    code = errno;
  if (code != 0) {
    ::unlink(temporary->first.c_str());
    return problem("write", path, code);
  }
  // The rename itself lasts once the folder is synced. Not every file system
  // can; the file is whole either way.
  fs::path parent = fs::path(target).parent_path();
  Descriptor folder(openRetrying(parent.empty() ? "." : parent.c_str(),
                                 O_RDONLY | O_DIRECTORY));
  if (folder.get() >= 0)
    (void)::fsync(folder.get());
  return {};
}

Status runtime::writeFileAtomically(const std::string &path,
                                    std::string_view text) {
  return writeFileAtomically(
      path, std::as_bytes(std::span<const char>(text.data(), text.size())));
}

Status runtime::makeFolders(const std::string &path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code)
    return Error{"cannot create the folder '" + path + "': " + code.message()};
  // create_directories is content with anything that exists.
  if (!fs::is_directory(path, code))
    return Error{"cannot create the folder '" + path + "': " + reason(ENOTDIR)};
  return {};
}

Result<TemporaryFolder> TemporaryFolder::make() {
  const char *root = std::getenv("TMPDIR");
  std::string pattern = std::string(root && *root ? root : "/tmp");
  pattern += "/winnow-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    return problem("create a folder like", pattern, errno);
  return TemporaryFolder(pattern);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other) noexcept
    : folder(std::exchange(other.folder, std::string())) {}

TemporaryFolder &TemporaryFolder::operator=(TemporaryFolder &&other) noexcept {
  std::swap(folder, other.folder);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  if (folder.empty())
    return;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}
