// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Drives clang for the tests' kernels.
#include "TestKernels.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

namespace winnow::sim::test {

namespace {

const char *kPrelude = R"(
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
using u8 = unsigned char; using u32 = unsigned; using u64 = unsigned long long;
#define TX (int)__builtin_amdgcn_workitem_id_x()
#define BX (int)__builtin_amdgcn_workgroup_id_x()
DEVICE inline void sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
)";

std::string slurp(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::byte> build(const std::string &source, const char *extension,
                             const std::string &flags) {
  static std::map<std::string, std::vector<std::byte>> cache;
  auto found = cache.find(flags + source);
  if (found != cache.end())
    return found->second;
  std::string pattern =
      (std::filesystem::temp_directory_path() / "winnow-sim-XXXXXX").string();
  if (!mkdtemp(pattern.data())) {
    ADD_FAILURE() << "no temporary folder: " << pattern;
    return {};
  }
  std::filesystem::path folder = pattern;
  std::filesystem::path input = folder / (std::string("kernel") + extension);
  std::filesystem::path output = folder / "kernel.co", log = folder / "log";
  std::ofstream(input) << source;
  std::string command = std::string(WINNOW_TEST_CLANG) + " " + flags + " " +
                        input.string() + " -o " + output.string() + " > " +
                        log.string() + " 2>&1";
  int status = std::system(command.c_str());
  std::string bytes = slurp(output);
  EXPECT_EQ(status, 0) << command << "\n" << slurp(log);
  std::filesystem::remove_all(folder);
  std::vector<std::byte> result(bytes.size());
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return cache[flags + source] = result;
}

} // namespace

std::vector<std::byte> compileHip(const std::string &source,
                                  const std::string &arch,
                                  const std::string &flags) {
  return build(kPrelude + source, ".hip",
               "-x hip --offload-arch=" + arch +
                   " --offload-device-only --no-gpu-bundle-output -nogpuinc "
                   "-nogpulib -std=c++17 -O3 " +
                   flags);
}

std::vector<std::byte> assemble(const std::string &source) {
  return build(source, ".s", "-target amdgcn-amd-amdhsa -mcpu=gfx950");
}

std::string kernelAround(const std::string &body) {
  return R"(
.text
.globl k
.p2align 8
.type k,@function
k:
)" + body +
         R"(
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_private_segment_fixed_size 128
  .amdhsa_enable_private_segment 1
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_count 2
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_next_free_vgpr 192
  .amdhsa_accum_offset 128
  .amdhsa_next_free_sgpr 96
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 128
    .wavefront_size: 64
    .sgpr_count: 96
    .vgpr_count: 128
    .agpr_count: 64
    .max_flat_workgroup_size: 1024
    .args:
      - { .name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global }
...
.end_amdgpu_metadata
)";
}

std::shared_ptr<const CodeObject> load(const std::vector<std::byte> &bytes) {
  auto object = CodeObject::load(bytes);
  if (!object) {
    ADD_FAILURE() << object.message();
    return nullptr;
  }
  return *object;
}

static Result<std::vector<uint32_t>> runBody(const std::string &body,
                                             const std::vector<uint32_t> &in,
                                             size_t out, unsigned lanes,
                                             const LaunchOptions &options) {
  std::shared_ptr<const CodeObject> object =
      load(assemble(kernelAround("  s_load_dwordx4 s[8:11], s[0:1], 0x0\n"
                                 "  s_waitcnt lgkmcnt(0)\n"
                                 "  v_and_b32 v122, 0x3ff, v0\n" +
                                 body)));
  Device device;
  uint64_t input = upload(device, in, "in");
  uint64_t output =
      upload(device, std::vector<uint32_t>(out, 0xdeadbeef), "out");
  Arguments arguments;
  arguments.add(input).add(output);
  Result<LaunchStats> stats =
      device.launch(object, "k", {}, {lanes, 1, 1}, arguments.bytes, options);
  if (!stats)
    return stats.takeError();
  return download<uint32_t>(device, output, out);
}

static LaunchOptions strictOptions() {
  LaunchOptions options;
  options.instructionLimit = 1000000;
  options.checks.set(CheckKind::MissingWait, CheckAction::Stop);
  return options;
}

std::vector<uint32_t> runWave(const std::string &body,
                              const std::vector<uint32_t> &in, size_t out,
                              unsigned lanes) {
  auto result = runBody(body, in, out, lanes, strictOptions());
  if (!result) {
    ADD_FAILURE() << result.message() << "\n" << body;
    return std::vector<uint32_t>(out, 0xdeadbeef);
  }
  return *result;
}

std::string runWaveError(const std::string &body,
                         const std::vector<uint32_t> &in, size_t out,
                         unsigned lanes) {
  return runWaveError(body, in, out, lanes, strictOptions());
}

std::string runWaveError(const std::string &body,
                         const std::vector<uint32_t> &in, size_t out,
                         unsigned lanes, const LaunchOptions &options) {
  auto result = runBody(body, in, out, lanes, options);
  return result ? std::string() : result.message();
}

std::string loadInputs(unsigned first, unsigned registers) {
  std::string text = "  v_lshlrev_b32 v120, 2, v122\n";
  for (unsigned r = 0; r < registers; ++r)
    text += "  v_add_u32 v121, " + std::to_string(256 * r) +
            ", v120\n"
            "  global_load_dword v" +
            std::to_string(first + r) + ", v121, s[8:9]\n";
  return text + "  s_waitcnt vmcnt(0)\n";
}

static std::vector<uint32_t>
columnsOf(const std::vector<std::vector<uint32_t>> &rows) {
  std::vector<uint32_t> in(rows[0].size() * 64);
  for (size_t row = 0; row < rows.size(); ++row)
    for (size_t c = 0; c < rows[0].size(); ++c)
      in[c * 64 + row] = rows[row][c];
  return in;
}
static const std::string kKeepDenormals =
    "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15\n";

std::vector<std::vector<uint32_t>>
runLanes(const std::string &body,
         const std::vector<std::vector<uint32_t>> &inputs, unsigned results) {
  auto out = runWave(loadInputs(1, unsigned(inputs[0].size())) +
                         kKeepDenormals + body + storeOutputs(40, results),
                     columnsOf(inputs), results * 64);
  std::vector<std::vector<uint32_t>> rows(inputs.size());
  for (size_t row = 0; row < inputs.size(); ++row)
    for (unsigned r = 0; r < results; ++r)
      rows[row].push_back(out[r * 64 + row]);
  return rows;
}
std::string runLanesError(const std::string &body,
                          const std::vector<std::vector<uint32_t>> &inputs) {
  return runWaveError(loadInputs(1, unsigned(inputs[0].size())) +
                          kKeepDenormals + body,
                      columnsOf(inputs), 64, unsigned(inputs.size()));
}

std::string storeOutputs(unsigned first, unsigned registers) {
  std::string text = "  s_nop 7\n  v_lshlrev_b32 v120, 2, v122\n";
  for (unsigned r = 0; r < registers; ++r)
    text += "  v_add_u32 v121, " + std::to_string(256 * r) +
            ", v120\n"
            "  global_store_dword v121, v" +
            std::to_string(first + r) + ", s[10:11]\n";
  return text;
}

} // namespace winnow::sim::test
