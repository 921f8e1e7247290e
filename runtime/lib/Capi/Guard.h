// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame of every function of the C interface: errors become a status and
// this thread's text, and no exception leaves.
#ifndef WINNOW_LIB_CAPI_GUARD_H
#define WINNOW_LIB_CAPI_GUARD_H

#include "Handles.h"
#include "winnow.h"
#include "winnow/Runtime/Plan.h"

#include <cstring>
#include <exception>
#include <new>
#include <string>

namespace winnow::capi {

/// Keeps the text for winnow_last_error; never throws.
winnow_status fail(winnow_status status, const std::string &text) noexcept;
/// The same with a text that lives for ever, for when memory is short.
winnow_status failStatic(winnow_status status, const char *text) noexcept;

winnow_status statusOf(runtime::ErrorKind kind);

inline winnow_status fail(runtime::ErrorKind kind, const std::string &text) {
  return fail(statusOf(kind), text);
}

template <typename Body> winnow_status guard(Body &&body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return failStatic(WINNOW_ERROR_MEMORY, "out of memory");
  } catch (const std::exception &exception) {
    return failStatic(WINNOW_ERROR_INTERNAL, exception.what());
  } catch (...) {
    return failStatic(WINNOW_ERROR_INTERNAL, "an unknown exception");
  }
}

/// The object behind a handle; null after setting the error.
void *checked(Kind kind, const void *handle, const char *what) noexcept;

template <typename Object>
Object *checked(Kind kind, const void *handle, const char *what) noexcept {
  return static_cast<Object *>(checked(kind, handle, what));
}

winnow_status nullPointer(const char *function, const char *parameter);

/// A structure of the caller's, of this or another version, as ours. `least` is
/// the size of its first version.
template <typename Options>
bool readOptions(const Options *from, Options &to, size_t least,
                 const char *name, winnow_status &status) {
  if (!from)
    return true;
  size_t size = 0;
  std::memcpy(&size, from, sizeof size);
  if (size < least || size > 65536) {
    status = fail(WINNOW_ERROR_ARGUMENT,
                  std::string(name) + ".size is " + std::to_string(size) +
                      ", wanted sizeof(" + name + "), " +
                      std::to_string(sizeof(Options)) + " in this version");
    return false;
  }
  const auto *bytes = reinterpret_cast<const unsigned char *>(from);
  for (size_t i = sizeof(Options); i < size; ++i)
    if (bytes[i] != 0) {
      status = fail(WINNOW_ERROR_ARGUMENT,
                    std::string(name) + " sets a field at byte " +
                        std::to_string(i) + " that version " +
                        winnow_version() + " does not know");
      return false;
    }
  std::memcpy(&to, from, std::min(size, sizeof(Options)));
  to.size = sizeof(Options);
  return true;
}

/// Answers into a structure of the caller's, as much of it as it has.
template <typename Info>
winnow_status writeInfo(const Info &from, Info *to, size_t least,
                        const char *name) {
  size_t size = 0;
  std::memcpy(&size, to, sizeof size);
  if (size < least || size > 65536)
    return fail(WINNOW_ERROR_ARGUMENT,
                std::string(name) + ".size is " + std::to_string(size) +
                    ", wanted sizeof(" + name + "), " +
                    std::to_string(sizeof(Info)) + " in this version");
  // Fields that only a newer header has read as 0.
  if (size > sizeof(Info))
    std::memset(reinterpret_cast<char *>(to) + sizeof(Info), 0,
                size - sizeof(Info));
  std::memcpy(reinterpret_cast<char *>(to) + sizeof(size_t),
              reinterpret_cast<const char *>(&from) + sizeof(size_t),
              std::min(size, sizeof(Info)) - sizeof(size_t));
  return WINNOW_OK;
}

} // namespace winnow::capi

#endif // WINNOW_LIB_CAPI_GUARD_H
