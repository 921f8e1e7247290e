// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value-or-error type of the libraries that link no LLVM. Exceptions never
// cross their boundaries, and an error's text is for people: it names the
// thing, what was found, what was wanted, and where.
#ifndef WINNOW_RUNTIME_RESULT_H
#define WINNOW_RUNTIME_RESULT_H

#include <string>
#include <utility>
#include <variant>

namespace winnow {

struct Error {
  std::string message;
};

/// Either a value or an Error. Test it before use; `takeError` moves the error
/// out for handing on.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return std::get<0>(state); }
  const T &operator*() const { return std::get<0>(state); }
  T *operator->() { return &std::get<0>(state); }
  const T *operator->() const { return &std::get<0>(state); }

  const std::string &message() const { return std::get<1>(state).message; }
  Error takeError() { return std::move(std::get<1>(state)); }

private:
  std::variant<T, Error> state;
};

/// Success, or an Error.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : failed(true), error(std::move(error)) {}

  explicit operator bool() const { return !failed; }
  const std::string &message() const { return error.message; }
  Error takeError() { return std::move(error); }

private:
  bool failed = false;
  Error error;
};

} // namespace winnow

#endif // WINNOW_RUNTIME_RESULT_H
