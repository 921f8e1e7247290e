// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "WorkerProtocol.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>

using namespace winnow;
using namespace winnow::runtime::worker;

namespace {

constexpr char kMagic[] = "WINNOWRT"; // 8 bytes and the terminator
constexpr size_t kHeaderBytes = 24;

template <typename T> void append(std::string &bytes, T value) {
  for (unsigned i = 0; i < sizeof(T); ++i)
    bytes.push_back(static_cast<char>(value >> (8 * i)));
}

template <typename T> T readAt(std::string_view bytes, size_t offset) {
  T value = 0;
  for (unsigned i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(
        value | static_cast<T>(static_cast<unsigned char>(bytes[offset + i]))
                    << (8 * i));
  return value;
}

/// Printable, and short enough for an error.
std::string excerpt(std::string_view bytes) {
  std::string text;
  for (char c : bytes.substr(0, 40))
    text += c >= ' ' && c < 127 ? c : '.';
  return text;
}

} // namespace

std::string runtime::worker::encode(const Message &message) {
  std::string body;
  for (const std::string &field : message.fields)
    append<uint64_t>(body, field.size());
  for (const std::string &field : message.fields)
    body += field;
  std::string bytes(kMagic, 8);
  append<uint32_t>(bytes, message.kind);
  append<uint32_t>(bytes, static_cast<uint32_t>(message.fields.size()));
  append<uint64_t>(bytes, XXH3_64bits(body.data(), body.size()));
  return bytes + body;
}

Result<std::optional<Message>> runtime::worker::decode(std::string_view bytes) {
  const size_t compared = std::min<size_t>(bytes.size(), 8);
  if (bytes.substr(0, compared) != std::string_view(kMagic, compared))
    return Error{"wanted a message, found '" + excerpt(bytes) + "'"};
  if (bytes.size() < kHeaderBytes)
    return std::optional<Message>();
  const uint32_t fields = readAt<uint32_t>(bytes, 12);
  if (fields > kMaxFields)
    return Error{"a message of " + std::to_string(fields) +
                 " fields, the most are " + std::to_string(kMaxFields)};
  const size_t lengths = kHeaderBytes + size_t(8) * fields;
  if (bytes.size() < lengths)
    return std::optional<Message>();
  uint64_t total = lengths;
  for (uint32_t i = 0; i < fields; ++i) {
    const uint64_t length = readAt<uint64_t>(bytes, kHeaderBytes + 8 * i);
    if (length > kMaxMessageBytes || total + length > kMaxMessageBytes)
      return Error{"field " + std::to_string(i) + " of a message has " +
                   std::to_string(length) + " bytes, a message at most " +
                   std::to_string(kMaxMessageBytes)};
    total += length;
  }
  if (bytes.size() < total)
    return std::optional<Message>();
  if (bytes.size() > total)
    return Error{std::to_string(bytes.size() - total) +
                 " bytes too many after a message"};
  if (XXH3_64bits(bytes.data() + kHeaderBytes, total - kHeaderBytes) !=
      readAt<uint64_t>(bytes, 16))
    return Error{"a message's checksum does not match its " +
                 std::to_string(total) + " bytes"};
  Message message;
  message.kind = readAt<uint32_t>(bytes, 8);
  size_t at = lengths;
  for (uint32_t i = 0; i < fields; ++i) {
    const uint64_t length = readAt<uint64_t>(bytes, kHeaderBytes + 8 * i);
    message.fields.emplace_back(bytes.substr(at, length));
    at += length;
  }
  return std::optional<Message>(std::move(message));
}
