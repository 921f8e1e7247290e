// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SimArguments.h"

#include "winnow/Runtime/Files.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <new>
#include <optional>

using namespace winnow;
using namespace winnow::tool;

namespace {

/// More would be a mistyped size.
constexpr uint64_t kMostBuffer = uint64_t(1) << 36;

template <typename T>
bool takeNumber(const std::string &text, SimArgument &to) {
  T value{};
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return false;
  to.value.resize(sizeof(T));
  std::memcpy(to.value.data(), &value, sizeof(T));
  return true;
}

} // namespace

Result<SimArgument> tool::parseSimArgument(const std::string &text) {
  auto bad = [&](std::string_view what) {
    return Error{fmt::format(
        "--arg '{}': {} (i32:N, u32:N, i64:N, u64:N, f32:X, f64:X, "
        "zeros:BYTES, fresh:BYTES or file:PATH; buffers may end in =>PATH)",
        text, what)};
  };
  const size_t colon = text.find(':');
  if (colon == text.npos)
    return bad("it has no type");
  const std::string type = text.substr(0, colon);
  std::string rest = text.substr(colon + 1);
  SimArgument argument;
  std::optional<bool> isNumber;
  if (type == "i32")
    isNumber = takeNumber<int32_t>(rest, argument);
  else if (type == "u32")
    isNumber = takeNumber<uint32_t>(rest, argument);
  else if (type == "i64")
    isNumber = takeNumber<int64_t>(rest, argument);
  else if (type == "u64")
    isNumber = takeNumber<uint64_t>(rest, argument);
  else if (type == "f32")
    isNumber = takeNumber<float>(rest, argument);
  else if (type == "f64")
    isNumber = takeNumber<double>(rest, argument);
  if (isNumber)
    return *isNumber ? Result<SimArgument>(std::move(argument))
                     : Result<SimArgument>(
                           bad(fmt::format("'{}' is no {}", rest, type)));

  argument.isBuffer = true;
  argument.value.resize(8);
  if (const size_t arrow = rest.find("=>"); arrow != rest.npos) {
    argument.output = rest.substr(arrow + 2);
    rest.resize(arrow);
    if (argument.output.empty())
      return bad("the output has no path");
  }
  if (type == "file") {
    Result<std::vector<std::byte>> bytes = runtime::readFile(rest, kMostBuffer);
    if (!bytes)
      return bytes.takeError();
    argument.contents = std::move(*bytes);
    return argument;
  }
  if (type != "zeros" && type != "fresh")
    return bad(fmt::format("'{}' is no type", type));
  SimArgument size;
  if (!takeNumber<uint64_t>(rest, size))
    return bad(fmt::format("'{}' is no number of bytes", rest));
  uint64_t bytes = 0;
  std::memcpy(&bytes, size.value.data(), 8);
  if (bytes > kMostBuffer)
    return bad(
        fmt::format("{} bytes are over the limit of {}", bytes, kMostBuffer));
  try {
    argument.contents.resize(bytes);
  } catch (const std::bad_alloc &) {
    return bad(fmt::format("{} bytes do not fit this machine's memory", bytes));
  }
  argument.isFresh = type == "fresh";
  return argument;
}

Result<std::vector<std::byte>>
tool::packSimArguments(const sim::KernelInfo &kernel,
                       const std::vector<SimArgument> &arguments) {
  std::vector<std::byte> bytes;
  size_t next = 0;
  for (const sim::KernelArgument &wanted : kernel.arguments) {
    if (wanted.isHidden())
      continue;
    if (next == arguments.size())
      return Error{fmt::format("kernel '{}': no --arg for its argument {} "
                               "('{}', {} bytes)",
                               kernel.name, next, wanted.name, wanted.size)};
    const SimArgument &given = arguments[next];
    if (given.value.size() != wanted.size)
      return Error{fmt::format(
          "kernel '{}': argument {} ('{}', {}) has {} bytes, --arg gives {}",
          kernel.name, next, wanted.name, wanted.valueKind, wanted.size,
          given.value.size())};
    bytes.resize(std::max<size_t>(bytes.size(), wanted.offset + wanted.size));
    std::memcpy(bytes.data() + wanted.offset, given.value.data(), wanted.size);
    ++next;
  }
  if (next != arguments.size())
    return Error{fmt::format("kernel '{}' has {} arguments, {} --arg given",
                             kernel.name, next, arguments.size())};
  return bytes;
}
