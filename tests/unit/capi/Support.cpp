// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Support.h"

#include "winnow/Runtime/ClangCompiler.h"

#include <dlfcn.h>
#include <map>
#include <mutex>

using namespace winnow;
using namespace winnow::test;

namespace {

constexpr char kSource[] = R"hip(
#define KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 64)))
KERNEL void add(int *data, long long count, long long step) {
  long long i = __builtin_amdgcn_workgroup_id_x() * 64ll + __builtin_amdgcn_workitem_id_x();
  if (i < count)
    data[i] += (int)step;
}
KERNEL void crash(int *data, long long count, long long step) {
  *(int *)8 = 1;
}
)hip";

} // namespace

void *Hooks::symbol(const char *name) const { return dlsym(library, name); }

std::string Hooks::callText() const {
  std::string text(calls(nullptr, 0), '\0');
  calls(text.data(), text.size());
  text.resize(text.size() - 1);
  return text;
}

const Hooks &test::hooks(const std::string &library) {
  static std::mutex lock;
  static std::map<std::string, Hooks> known;
  std::lock_guard<std::mutex> guard(lock);
  const auto [place, isNew] = known.try_emplace(library);
  if (isNew) {
    Hooks &to = place->second;
    to.library = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto take = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          to.symbol(name));
      ASSERT_NE(function, nullptr) << library << " has no " << name;
    };
    take(to.fail, "winnow_hip_sim_fail");
    take(to.count, "winnow_hip_sim_count");
    take(to.calls, "winnow_hip_sim_calls");
    take(to.dropLaunches, "winnow_hip_sim_drop_launches");
    take(to.setDevices, "winnow_hip_sim_set_devices");
    take(to.fault, "winnow_hip_sim_fault");
    take(to.reset, "winnow_hip_sim_reset");
  }
  return place->second;
}

std::shared_ptr<runtime::Device> HipSimTest::device(const char *name) {
  auto opened = runtime::openDevice(name, {kHipSim, kHipSim, kAbsent});
  if (!opened) {
    ADD_FAILURE() << opened.message();
    return nullptr;
  }
  return *opened;
}

const std::vector<std::byte> &test::addKernel(const std::string &arch) {
  static std::mutex lock;
  static std::map<std::string, std::vector<std::byte>> codes;
  std::lock_guard<std::mutex> guard(lock);
  std::vector<std::byte> &code = codes[arch];
  if (code.empty()) {
    auto compiled =
        runtime::compileWithClang({"add.hip", "mfma", {arch}, kSource}, arch);
    EXPECT_TRUE(compiled) << compiled.message();
    if (compiled)
      code = std::move(compiled->code);
  }
  return code;
}

runtime::Entry test::raiseEntry(const std::string &lowering, uint32_t source) {
  using namespace runtime;
  Entry entry;
  entry.name = "raise";
  entry.lowering = lowering;
  entry.maxSeqLen = 4096;
  entry.maxRequests = 1024;
  entry.arguments = {{"values",
                      DType::I32,
                      Access::ReadWrite,
                      Role::Step,
                      {Extent::any()},
                      Layout::Contiguous}};
  entry.symbols = {{"requests", ArgumentAxis{"values", 0}}};
  entry.launches = {
      {"add",
       source,
       {Expression(Expression::Kind::CeilDiv, "requests", 64), 1, 1},
       {64, 1, 1},
       0,
       {{KernelArgument::Kind::Tensor, "values", 0},
        {KernelArgument::Kind::Extent, "values", 0},
        {KernelArgument::Kind::Stride, "values", 0}}}};
  return entry;
}
