// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IdentityMemo.h"
#include "Digest.h"
#include "winnow/Runtime/Files.h"

#include <nlohmann/json.hpp>

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

using namespace winnow;
using namespace winnow::runtime;
using Json = nlohmann::json;

namespace {

constexpr int kFormat = 1;
constexpr uint64_t kMaxMemoBytes = uint64_t(1) << 20;

/// What changes whenever the file does: an upgrade makes a new inode, and no
/// program can set ctime.
Json look(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return nullptr;
  return {info.st_dev,         info.st_ino,          info.st_size,
          info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ctim.tv_sec,
          info.st_ctim.tv_nsec};
}

/// What others write there is not believed, nor are their links followed.
bool writableByOthers(const std::string &folder) {
  struct stat info;
  return ::stat(folder.c_str(), &info) == 0 &&
         (info.st_uid != ::geteuid() ||
          (info.st_mode & (S_IWGRP | S_IWOTH)) != 0);
}

} // namespace

IdentityMemo::IdentityMemo(const std::string &folder,
                           const std::vector<std::string> &command) {
  if (folder.empty() || command.empty() || writableByOthers(folder))
    return;
  Digester digester;
  for (const std::string &word : command)
    digester.field(word);
  // Two containers on one folder each have a compiler of their own.
  digester.field(look(command.front()).dump());
  path = folder + "/compilers/" + hexText(digester.digest()).substr(0, 32) +
         ".json";
}

std::optional<std::string> IdentityMemo::recall() const {
  if (path.empty() || ::access(path.c_str(), F_OK) != 0)
    return std::nullopt;
  Result<std::vector<std::byte>> bytes = readFile(path, kMaxMemoBytes);
  if (!bytes)
    return std::nullopt;
  const auto *text = reinterpret_cast<const char *>(bytes->data());
  const Json memo = Json::parse(text, text + bytes->size(), nullptr,
                                /*allow_exceptions=*/false);
  if (!memo.is_object() || memo.value("format", Json()) != kFormat)
    return std::nullopt;
  const auto identity = memo.find("identity");
  const auto files = memo.find("files");
  if (identity == memo.end() || !identity->is_string() || files == memo.end() ||
      !files->is_object() || files->empty())
    return std::nullopt;
  for (const auto &[file, seen] : files->items())
    if (seen.is_null() || look(file) != seen)
      return std::nullopt;
  return identity->get<std::string>();
}

void IdentityMemo::remember(const std::string &identity,
                            const std::vector<std::string> &files) const {
  if (path.empty())
    return;
  Json seen = Json::object();
  for (const std::string &file : files) {
    Json now = look(file);
    if (now.is_null())
      return; // it could not be told when it changes
    seen[file] = std::move(now);
  }
  const std::string text =
      Json{{"format", kFormat}, {"identity", identity}, {"files", seen}}.dump(
          1, ' ', false, Json::error_handler_t::replace);
  // Only speed is lost where it cannot be written.
  const std::string folder = path.substr(0, path.rfind('/'));
  const std::string cache = folder.substr(0, folder.rfind('/'));
  if (cache.rfind('/') != std::string::npos)
    if (Status made = makeFolders(cache.substr(0, cache.rfind('/') + 1)); !made)
      return;
  for (const std::string &each : {cache, folder})
    if (::mkdir(each.c_str(), 0700) != 0 && errno != EEXIST)
      return;
  if (Status written = writeFileAtomically(path, text); !written)
    return;
}

void IdentityMemo::forget() const {
  if (!path.empty())
    ::unlink(path.c_str());
}
