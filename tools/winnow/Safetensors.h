// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing safetensors files, the format in which others hand over
// inputs (it has fp8 e4m3): u64 header bytes, a JSON header, the tensors' data.
// https://huggingface.co/docs/safetensors
#ifndef WINNOW_TOOL_SAFETENSORS_H
#define WINNOW_TOOL_SAFETENSORS_H

#include "winnow/Runtime/Manifest.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace winnow::tool {

/// A dense row-major tensor.
struct SafeTensor {
  std::string name;
  runtime::DType dtype = runtime::DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  bool operator==(const SafeTensor &) const = default;
};

/// Reads a file's bytes. Every size and offset is checked; an error names the
/// tensor and the values. Types that no argument has (I64, BOOL, ...) are
/// errors.
Result<std::vector<SafeTensor>>
parseSafetensors(std::span<const std::byte> file);

/// The same from a path; errors start with it.
Result<std::vector<SafeTensor>> readSafetensors(const std::string &path);

/// The file's bytes, tensors in the order given.
Result<std::vector<std::byte>>
writeSafetensors(const std::vector<SafeTensor> &tensors);

} // namespace winnow::tool

#endif // WINNOW_TOOL_SAFETENSORS_H
