// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What files and processes of this library need around POSIX calls alike.
#ifndef WINNOW_LIB_RUNTIME_POSIX_H
#define WINNOW_LIB_RUNTIME_POSIX_H

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>

#include <unistd.h>

namespace winnow::runtime {

/// The system's words for an error number.
inline std::string reason(int code) {
  return std::error_code(code, std::generic_category()).message();
}

/// Closes on the way out; `close` answers for writers, who have to know.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return fd; }
  int close() {
    const int result = ::close(fd);
    fd = -1;
    return result;
  }

private:
  int fd;
};

/// 0, or the error number.
inline int writeAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // Linux writes at most 2 GiB a call anyway.
    const ssize_t count = ::write(
        fd, bytes.data(), std::min<size_t>(bytes.size(), size_t(1) << 30));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errno;
    if (count == 0)
      return ENOSPC;
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return 0;
}

/// For poll: 0 only once the time is over.
inline int millisecondsUntil(std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  return static_cast<int>(
      std::clamp<int64_t>(left.count(), 0, int64_t(1) << 30));
}

} // namespace winnow::runtime

#endif // WINNOW_LIB_RUNTIME_POSIX_H
