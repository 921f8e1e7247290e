// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Safetensors.h"

#include "winnow/Runtime/Files.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <exception>
#include <set>

#include <sys/stat.h>

using namespace winnow;
using namespace winnow::tool;
using runtime::DType;
using Json = nlohmann::ordered_json;

namespace {

constexpr uint64_t kMaxFileBytes = uint64_t(2) << 30;
// The format's own limit on its header.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

constexpr std::pair<DType, const char *> kTypes[] = {
    {DType::F8E4M3FN, "F8_E4M3"}, {DType::F8E5M2, "F8_E5M2"},
    {DType::BF16, "BF16"},        {DType::F16, "F16"},
    {DType::F32, "F32"},          {DType::I32, "I32"}};

Error problem(const std::string &what) { return Error{"safetensors: " + what}; }

std::string brief(const Json &json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > 80 ? text.substr(0, 80) + "..." : text;
}

bool isCount(const Json &json) {
  return json.is_number_unsigned() &&
         json.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
}

Result<SafeTensor> parseTensor(const std::string &name, const Json &json,
                               std::span<const std::byte> data) {
  const std::string where = "tensor '" + name.substr(0, 80) + "': ";
  if (!json.is_object())
    return problem(where + brief(json) + ", wanted an object");
  for (const auto &[key, value] : json.items())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      return problem(where + "unknown field '" + key.substr(0, 80) + "'");
  SafeTensor tensor;
  tensor.name = name;

  const auto dtype = json.find("dtype");
  bool known = false;
  for (auto [type, spelling] : kTypes)
    if (dtype != json.end() && *dtype == spelling) {
      tensor.dtype = type;
      known = true;
    }
  if (!known)
    return problem(where + "dtype " +
                   (dtype == json.end() ? "missing" : brief(*dtype)) +
                   ", wanted one of F8_E4M3, F8_E5M2, BF16, F16, F32, I32");

  const auto shape = json.find("shape");
  if (shape == json.end() || !shape->is_array() ||
      shape->size() > runtime::kMaxRank)
    return problem(
        where + "shape " + (shape == json.end() ? "missing" : brief(*shape)) +
        ", wanted an array of at most " + std::to_string(runtime::kMaxRank));
  int64_t bytes = runtime::byteWidth(tensor.dtype);
  for (const Json &extent : *shape) {
    if (!isCount(extent) ||
        __builtin_mul_overflow(bytes, extent.get<int64_t>(), &bytes))
      return problem(where + "shape " + brief(*shape) +
                     ", wanted sizes whose product fits 64 bits");
    tensor.shape.push_back(extent.get<int64_t>());
  }

  const auto offsets = json.find("data_offsets");
  if (offsets == json.end() || !offsets->is_array() || offsets->size() != 2 ||
      !isCount((*offsets)[0]) || !isCount((*offsets)[1]))
    return problem(where + "data_offsets " +
                   (offsets == json.end() ? "missing" : brief(*offsets)) +
                   ", wanted [begin, end]");
  const auto begin = (*offsets)[0].get<uint64_t>();
  const auto end = (*offsets)[1].get<uint64_t>();
  if (begin > end || end > data.size())
    return problem(where + "data_offsets " + brief(*offsets) +
                   " in a file with " + std::to_string(data.size()) +
                   " bytes of data");
  if (end - begin != static_cast<uint64_t>(bytes))
    return problem(where + "shape " + brief(*shape) + " of " + brief(*dtype) +
                   " takes " + std::to_string(bytes) +
                   " bytes, data_offsets give " + std::to_string(end - begin));
  const auto content = data.subspan(begin, end - begin);
  tensor.bytes.assign(content.begin(), content.end());
  return tensor;
}

Result<std::vector<SafeTensor>> parse(std::span<const std::byte> file) {
  if (file.size() < 8)
    return problem(std::to_string(file.size()) +
                   " bytes, shorter than the header's length");
  uint64_t headerBytes = 0;
  for (int i = 7; i >= 0; --i)
    headerBytes = headerBytes << 8 | std::to_integer<uint64_t>(file[i]);
  if (headerBytes > kMaxHeaderBytes || headerBytes > file.size() - 8)
    return problem("a header of " + std::to_string(headerBytes) +
                   " bytes in a file of " + std::to_string(file.size()));
  const char *text = reinterpret_cast<const char *>(file.data()) + 8;
  // Nothing in a header is nested deeper than the shape of a tensor.
  bool deep = false, doubled = false;
  std::set<std::string> names;
  const Json json = Json::parse(
      text, text + headerBytes,
      [&](int depth, Json::parse_event_t event, Json &parsed) {
        if (depth == 1 && event == Json::parse_event_t::key)
          doubled |= !names.insert(parsed.get<std::string>()).second;
        deep |= depth > 4;
        return depth <= 4;
      },
      /*allow_exceptions=*/false);
  if (deep || doubled || json.is_discarded() || !json.is_object())
    return problem(doubled ? "the header names a tensor twice"
                           : "the header is not a JSON object of tensors");

  const auto data = file.subspan(8 + headerBytes);
  std::vector<SafeTensor> tensors;
  uint64_t total = 0;
  for (const auto &[name, value] : json.items()) {
    if (name == "__metadata__")
      continue;
    Result<SafeTensor> tensor = parseTensor(name, value, data);
    if (!tensor)
      return tensor.takeError();
    // Overlapping tensors could ask for more memory than the file has bytes.
    total += tensor->bytes.size();
    if (total > data.size())
      return problem("tensor '" + name.substr(0, 80) +
                     "' overlaps another one");
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

} // namespace

Result<std::vector<SafeTensor>>
tool::parseSafetensors(std::span<const std::byte> file) {
  try {
    return parse(file);
  } catch (const std::exception &exception) {
    return problem(exception.what());
  }
}

Result<std::vector<SafeTensor>> tool::readSafetensors(const std::string &path) {
  // A device like /dev/zero would fill the memory before it is too long.
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 &&
      (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)))
    return Error{"cannot read '" + path + "': a device, wanted a file"};
  Result<std::vector<std::byte>> file = runtime::readFile(path, kMaxFileBytes);
  if (!file)
    return file.takeError();
  Result<std::vector<SafeTensor>> tensors = parseSafetensors(*file);
  if (!tensors)
    return Error{path + ": " + tensors.message()};
  return tensors;
}

Result<std::vector<std::byte>>
tool::writeSafetensors(const std::vector<SafeTensor> &tensors) {
  try {
    Json json = Json::object();
    uint64_t offset = 0;
    for (const SafeTensor &tensor : tensors) {
      const char *dtype = nullptr;
      for (auto [type, spelling] : kTypes)
        if (type == tensor.dtype)
          dtype = spelling;
      const uint64_t end = offset + tensor.bytes.size();
      json[tensor.name] = Json{{"dtype", dtype},
                               {"shape", tensor.shape},
                               {"data_offsets", Json::array({offset, end})}};
      offset = end;
    }
    std::string header = json.dump();
    // Data starts at a multiple of 8; the format pads with spaces.
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::vector<std::byte> file;
    for (int shift = 0; shift < 64; shift += 8)
      file.push_back(static_cast<std::byte>(uint64_t(header.size()) >> shift));
    const auto *text = reinterpret_cast<const std::byte *>(header.data());
    file.insert(file.end(), text, text + header.size());
    for (const SafeTensor &tensor : tensors)
      file.insert(file.end(), tensor.bytes.begin(), tensor.bytes.end());
    return file;
  } catch (const std::exception &exception) {
    return problem(exception.what());
  }
}
