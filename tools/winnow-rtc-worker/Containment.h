// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What keeps a worker from harming or outliving the process that started it.
#ifndef WINNOW_RTC_WORKER_CONTAINMENT_H
#define WINNOW_RTC_WORKER_CONTAINMENT_H

#include "winnow/Runtime/Result.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace winnow::rtc {

struct Containment {
  std::string folder;                   ///< to make, to work in and to remove
  uint64_t maxMemory = 0;               ///< address space in bytes; 0: no limit
  std::chrono::milliseconds timeout{0}; ///< of the whole life; 0: none
};

/// Limits the process, makes its folder and goes there, and starts a thread
/// that ends the process group when the other end of `socket` is gone.
Status contain(const Containment &limits, int socket);

/// Removes the folder and ends the process, leaving out destructors and exit
/// handlers: a compiler's may hang.
[[noreturn]] void leave(int status);

} // namespace winnow::rtc

#endif // WINNOW_RTC_WORKER_CONTAINMENT_H
