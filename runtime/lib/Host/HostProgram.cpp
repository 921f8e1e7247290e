// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference behind a plan.
#include "winnow/Host/RunOnHost.h"

#include <cstring>

using namespace winnow;
using namespace winnow::host;

namespace {

/// The elements of a tensor from one memory to another of the same layout, and
/// nothing between them: an output may be a slice of a larger buffer, whose
/// rest is somebody else's, another output's too.
void copyElements(const runtime::TensorView &view, std::byte *to,
                  const std::byte *from, int axis = 0) {
  const int64_t width = runtime::byteWidth(view.dtype);
  if (axis == view.rank) {
    std::memcpy(to, from, static_cast<size_t>(width));
    return;
  }
  const int64_t extent = view.extents[axis], step = view.strides[axis] * width;
  if (axis == view.rank - 1 && (step == width || extent < 2)) {
    std::memcpy(to, from, static_cast<size_t>(extent * width));
    return;
  }
  for (int64_t i = 0; i < extent; ++i)
    copyElements(view, to + i * step, from + i * step, axis + 1);
}

class Reference : public runtime::HostProgram {
public:
  explicit Reference(const runtime::Entry &from) : entry(from) {}

  Status prepare() {
    Result<Indexer> found = Indexer::of(entry);
    if (!found)
      return found.takeError();
    indexer = std::move(*found);
    indexer.scores = -1; // nobody asks for them
    return {};
  }

  Status run(std::span<const runtime::TensorView> arguments) const override {
    Result<runtime::Symbols> symbols = runtime::bindArguments(entry, arguments);
    if (!symbols)
      return symbols.takeError();
    Call call;
    call.indexer = &indexer;
    call.symbols = std::move(*symbols);
    for (size_t i = 0; i < arguments.size(); ++i) {
      Result<HostTensor> tensor =
          HostTensor::make(entry.arguments[i].name, arguments[i]);
      if (!tensor)
        return tensor.takeError();
      if (!tensor->bytes.empty())
        std::memcpy(tensor->bytes.data(), memory(arguments[i]),
                    tensor->bytes.size());
      call.arguments.push_back(std::move(*tensor));
    }
    if (Status status = runOnHost(call); !status)
      return Error{"'" + entry.name + "' on the host: " + status.message()};
    for (size_t i = 0; i < arguments.size(); ++i)
      if (entry.arguments[i].access != runtime::Access::Read &&
          !call.arguments[i].bytes.empty())
        copyElements(arguments[i], memory(arguments[i]),
                     call.arguments[i].bytes.data());
    return {};
  }

private:
  static std::byte *memory(const runtime::TensorView &tensor) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<std::byte *>(tensor.address);
  }

  const runtime::Entry entry;
  Indexer indexer; // of `entry`
};

} // namespace

Result<std::shared_ptr<const runtime::HostProgram>>
host::makeHostProgram(const runtime::Entry &entry) {
  auto program = std::make_shared<Reference>(entry);
  if (Status status = program->prepare(); !status)
    return status.takeError();
  return std::shared_ptr<const runtime::HostProgram>(std::move(program));
}
