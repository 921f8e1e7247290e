// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Libraries.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include <link.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace winnow::rtc;

namespace {

std::string hex(const unsigned char *bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

size_t padded(size_t bytes) { return (bytes + 3) & ~size_t(3); }

/// The GNU build id of a loaded object, from its notes; empty if it has none.
std::string buildId(const dl_phdr_info &info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    // The loader tells addresses as numbers.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto *at = reinterpret_cast<const unsigned char *>(info.dlpi_addr +
                                                             segment.p_vaddr);
    const unsigned char *end = at + segment.p_memsz;
    while (end - at >= static_cast<long>(sizeof(ElfW(Nhdr)))) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const unsigned char *name = at + sizeof note;
      const unsigned char *content = name + padded(note.n_namesz);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          std::memcmp(name, "GNU", 4) == 0 && content + note.n_descsz <= end)
        return hex(content, note.n_descsz);
      at = content + padded(note.n_descsz);
    }
  }
  return "";
}

/// A library built without an id is known by its bytes.
std::string contentId(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)),
                          std::istreambuf_iterator<char>());
  const uint64_t digest = XXH3_64bits(bytes.data(), bytes.size());
  unsigned char raw[sizeof digest];
  std::memcpy(raw, &digest, sizeof digest);
  return "xxh3-" + hex(raw, sizeof raw);
}

/// The C library and its like do not decide what code comes out.
bool partOfCompiler(const std::string &name) {
  for (const char *word :
       {"clang", "LLVM", "lld", "comgr", "hiprtc", "amdhip", "nvrtc"})
    if (name.find(word) != std::string::npos)
      return true;
  return false;
}

} // namespace

Libraries winnow::rtc::loadedLibraries() {
  struct Seen {
    std::vector<std::string> ids, paths;
  } seen;
  ::dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        auto &seen = *static_cast<Seen *>(data);
        const std::string path = info->dlpi_name ? info->dlpi_name : "";
        if (path.find('/') == std::string::npos)
          return 0; // the program itself and the kernel's page
        seen.paths.push_back(path);
        const std::string name = path.substr(path.rfind('/') + 1);
        if (partOfCompiler(name)) {
          const std::string id = buildId(*info);
          seen.ids.push_back(name + ":" + (id.empty() ? contentId(path) : id));
        }
        return 0;
      },
      &seen);
  std::sort(seen.ids.begin(), seen.ids.end());
  Libraries result;
  for (const std::string &id : seen.ids)
    result.builds += " " + id;
  result.paths = std::move(seen.paths);
  return result;
}
