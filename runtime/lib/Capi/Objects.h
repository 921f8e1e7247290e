// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the handles of the C interface stand for.
#ifndef WINNOW_LIB_CAPI_OBJECTS_H
#define WINNOW_LIB_CAPI_OBJECTS_H

#include "winnow/Runtime/Dispatcher.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace winnow::capi {

struct RuntimeObject {
  runtime::DeviceOptions devices;
  runtime::Logger logger;
  std::unique_ptr<runtime::Dispatcher> dispatcher;
  std::mutex publishing;
  std::vector<uint64_t> plans; // handles that end with the runtime
};

struct BundleObject {
  std::shared_ptr<const runtime::LoadedBundle> bundle;
  std::vector<std::string> entries; // each name once
};

struct DeviceObject {
  std::shared_ptr<const runtime::OpenedDevice> device;
};

} // namespace winnow::capi

#endif // WINNOW_LIB_CAPI_OBJECTS_H
