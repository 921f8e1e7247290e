// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices by name.
#include "winnow/Runtime/DeviceApi.h"

#include <charconv>
#include <dlfcn.h>
#include <optional>
#include <string_view>

using namespace winnow;
using namespace winnow::runtime;

Module::~Module() = default;
Device::~Device() = default;

namespace {

constexpr char kSimLibrary[] = "libwinnow_hip_sim.so";

/// The folder of the library or program that this code is in.
std::string ownFolder() {
  Dl_info found;
  if (!dladdr(reinterpret_cast<const void *>(&kSimLibrary), &found) ||
      !found.dli_fname)
    return "";
  const std::string path = found.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}

std::vector<std::string> hipLibraries(const DeviceOptions &options) {
  if (!options.hipLibrary.empty())
    return {options.hipLibrary};
  return {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
}

std::vector<std::string> cudaLibraries(const DeviceOptions &options) {
  return {options.cudaLibrary.empty() ? "libcuda.so.1" : options.cudaLibrary};
}

std::vector<std::string> simLibraries(const DeviceOptions &options) {
  if (!options.simLibrary.empty())
    return {options.simLibrary};
  std::vector<std::string> names;
  if (const std::string folder = ownFolder(); !folder.empty())
    names = {folder + "/" + kSimLibrary, folder + "/../lib/" + kSimLibrary};
  names.push_back(kSimLibrary);
  return names;
}

/// "hip:3" or "cuda:3".
struct Numbered {
  bool isHip;
  int index;
};

std::optional<Numbered> numbered(std::string_view name) {
  const bool isHip = name.starts_with("hip:");
  if (!isHip && !name.starts_with("cuda:"))
    return std::nullopt;
  name.remove_prefix(name.find(':') + 1);
  int index = 0;
  const char *last = name.data() + name.size();
  const auto [end, error] = std::from_chars(last - name.size(), last, index);
  if (name.empty() || error != std::errc() || end != last || index < 0)
    return std::nullopt;
  return Numbered{isHip, index};
}

} // namespace

std::string runtime::baseArch(const std::string &arch) {
  return arch.substr(0, arch.find(':'));
}

bool runtime::runsOn(const std::string &code, const std::string &device) {
  if (baseArch(code) != baseArch(device))
    return false;
  for (size_t at = code.find(':'); at != code.npos;) {
    const size_t next = code.find(':', at + 1);
    const std::string feature = code.substr(at, next - at);
    // ":xnack-" has to be there whole, not as a part of another.
    if ((device + ":").find(feature + ":") == std::string::npos)
      return false;
    at = next;
  }
  return true;
}

Status runtime::checkDeviceName(const std::string &name) {
  if (name == "auto" || name == "host" || name == "sim:gfx950" ||
      numbered(name))
    return {};
  return Error{(name.empty() ? std::string("the device's name is empty")
                             : "device '" + name + "' is unknown") +
               "; wanted hip:N, cuda:N, sim:gfx950, host or auto, where N "
               "counts from 0: hip:0"};
}

Result<std::shared_ptr<Device>>
runtime::openDevice(const std::string &name, const DeviceOptions &options) {
  if (name == "auto") {
    std::vector<std::string> reasons;
    for (const char *candidate : {"hip:0", "cuda:0", "sim:gfx950"}) {
      Result<std::shared_ptr<Device>> device =
          candidate[0] == 'c'
              ? openCudaDevice(cudaLibraries(options), 0, candidate, reasons)
              : openHipDevice(candidate[0] == 'h' ? hipLibraries(options)
                                                  : simLibraries(options),
                              0, candidate, reasons);
      if (device)
        return device;
      reasons.push_back(device.message());
    }
    return openHostDevice(reasons);
  }
  if (name == "host")
    return openHostDevice();
  if (name == "sim:gfx950")
    return openHipDevice(simLibraries(options), 0, name);
  if (const std::optional<Numbered> device = numbered(name))
    return device->isHip
               ? openHipDevice(hipLibraries(options), device->index, name)
               : openCudaDevice(cudaLibraries(options), device->index, name);
  return checkDeviceName(name).takeError();
}
