// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "winnow/Host/Tensors.h"

using namespace winnow;
using namespace winnow::host;

Result<HostTensor> HostTensor::make(std::string name,
                                    runtime::TensorView view) {
  view.address = 0;
  Result<uint64_t> bytes = runtime::byteSpan(view);
  if (!bytes)
    return Error{"tensor '" + name + "': " + bytes.message()};
  if (*bytes > kMaxBytes)
    return Error{"tensor '" + name + "' of shape " + view.shapeText() +
                 " takes " + std::to_string(*bytes) + " bytes, at most " +
                 std::to_string(kMaxBytes) + " are allowed"};
  HostTensor tensor{std::move(name), view, {}};
  tensor.bytes.assign(*bytes, kPoison);
  return tensor;
}

reference::NumberView HostTensor::asNumbers() const {
  reference::NumberFormat format =
      reference::parseNumberFormat(runtime::dtypeName(view.dtype))
          .value_or(reference::NumberFormat::F32);
  return {bytes.data(), format, first<3>(view.extents), first<3>(view.strides)};
}
