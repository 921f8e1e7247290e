// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What passes between the runtime and winnow-rtc-worker over the worker's
// descriptor 3. Both ends come from one build, yet neither trusts the other's
// bytes: a compiler that has lost its mind may write anything there.
//
// A message, little-endian: 8 bytes magic, u32 kind, u32 number of fields, u64
// XXH3-64 of all that follows, u64 length of each field, the fields.
#ifndef WINNOW_LIB_RUNTIME_WORKERPROTOCOL_H
#define WINNOW_LIB_RUNTIME_WORKERPROTOCOL_H

#include "winnow/Runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::runtime::worker {

/// Where the worker finds the socket.
inline constexpr int kSocket = 3;

enum Kind : uint32_t {
  kIdentify = 1, ///< no field; answered by Identity
  kCompile = 2,  ///< source name, target, text; answered by Compiled or Failed
  kIdentity = 3, ///< the identity, then one path for each library it rests on
  kCompiled = 4, ///< identity, log, code
  kFailed = 5,   ///< the compiler's text
};

struct Message {
  uint32_t kind = 0;
  std::vector<std::string> fields;
};

inline constexpr size_t kMaxFields = 256;
/// Of a whole message: more is no kernel.
inline constexpr uint64_t kMaxMessageBytes = uint64_t(256) << 20;

std::string encode(const Message &message);

/// The message, once `bytes` holds all of it and nothing more; nothing while it
/// is still short; an error as soon as it cannot become one.
Result<std::optional<Message>> decode(std::string_view bytes);

} // namespace winnow::runtime::worker

#endif // WINNOW_LIB_RUNTIME_WORKERPROTOCOL_H
