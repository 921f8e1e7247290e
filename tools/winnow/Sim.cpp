// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `winnow sim`: any gfx950 code object on the simulated device.
#include "Commands.h"
#include "Observe.h"
#include "Print.h"
#include "SimArguments.h"

#include "winnow/Runtime/Files.h"
#include "winnow/Sim/Instructions.h"

#include <fmt/format.h>

#include <memory>

using namespace winnow;
using namespace winnow::tool;

namespace {

struct SimOptions {
  std::string file, kernel;
  std::vector<uint32_t> grid = {1, 1, 1}, block = {64, 1, 1};
  std::vector<std::string> arguments;
  bool disassemble = false, instructions = false;
  sim::LaunchOptions launch;
  ObserveOptions observe;
};

sim::Dim3 dim3(const std::vector<uint32_t> &extents) {
  auto at = [&](size_t i) { return i < extents.size() ? extents[i] : 1u; };
  return {at(0), at(1), at(2)};
}

int list(const sim::CodeObject &object) {
  for (const sim::KernelInfo &kernel : object.kernels()) {
    say("{}: {} VGPRs, {} AGPRs, {} SGPRs, {} bytes of LDS, {} of "
        "scratch, {} of code\n",
        runtime::visible(kernel.name), kernel.vgprCount, kernel.agprCount,
        kernel.sgprCount, kernel.groupSegmentSize, kernel.privateSegmentSize,
        kernel.codeSize);
    for (const sim::KernelArgument &argument : kernel.arguments)
      if (!argument.isHidden())
        say("  {:4} {} bytes  {}  {}\n", argument.offset, argument.size,
            runtime::visible(argument.valueKind),
            runtime::visible(argument.name));
    Result<std::vector<std::string>> unknown = object.unsupported(kernel.name);
    if (!unknown)
      return report(unknown.takeError());
    for (const std::string &line : *unknown)
      say("  not simulated: {}\n", line);
  }
  return kFine;
}

Status makeBuffers(sim::Device &device, std::vector<SimArgument> &arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    SimArgument &argument = arguments[i];
    if (!argument.isBuffer)
      continue;
    Result<uint64_t> address =
        device.alloc(argument.contents.size(), fmt::format("argument {}", i));
    if (!address)
      return address.takeError();
    argument.address = *address;
    std::memcpy(argument.value.data(), &argument.address, 8);
    if (!argument.isFresh)
      if (Status status = device.write(*address, argument.contents); !status)
        return status;
  }
  return {};
}

Status writeBuffers(const sim::Device &device,
                    std::vector<SimArgument> &arguments) {
  for (SimArgument &argument : arguments) {
    if (argument.output.empty())
      continue;
    if (Status status = device.read(argument.address, argument.contents);
        !status)
      return status;
    if (Status status = runtime::writeFileAtomically(
            argument.output, std::span<const std::byte>(argument.contents));
        !status)
      return status;
  }
  return {};
}

int launch(const SimOptions &options,
           const std::shared_ptr<const sim::CodeObject> &object) {
  Result<const sim::KernelInfo *> kernel = object->find(options.kernel);
  if (!kernel)
    return report(kernel.takeError(), kUsage);
  std::vector<SimArgument> arguments;
  for (const std::string &text : options.arguments) {
    Result<SimArgument> argument = parseSimArgument(text);
    if (!argument)
      return report(argument.takeError(), kUsage);
    arguments.push_back(std::move(*argument));
  }
  sim::Device device;
  if (Status status = makeBuffers(device, arguments); !status)
    return report(status.takeError());
  Result<std::vector<std::byte>> kernarg =
      packSimArguments(**kernel, arguments);
  if (!kernarg)
    return report(kernarg.takeError(), kUsage);
  sim::LaunchOptions settings = options.launch;
  settings.checks = options.observe.checks;
  settings.profile = !options.observe.profile.empty();
  settings.shuffle = options.observe.shuffle;
  Result<sim::LaunchStats> stats =
      device.launch(object, options.kernel, dim3(options.grid),
                    dim3(options.block), *kernarg, settings);
  if (!stats)
    return report(stats.takeError());
  if (Status status = writeBuffers(device, arguments); !status)
    return report(status.takeError());
  say("{}: {} workgroups, {} waves, {} wave instructions, {} bytes "
      "loaded, {} stored\n",
      options.kernel, stats->workgroups, stats->waves, stats->instructions,
      stats->bytesLoaded, stats->bytesStored);
  Result<std::string> profile =
      showProfiles(options.observe, options.kernel, {&*stats});
  if (!profile)
    return report(profile.takeError());
  say("{}", *profile);
  std::fflush(stdout);
  say(stderr, "{}", findingsText(*stats));
  return stats->findings.empty() ? kFine : kFailed;
}

int run(const SimOptions &options) {
  if (options.instructions) {
    say("{}", sim::instructionTable());
    return kFine;
  }
  if (options.file.empty())
    return report(Error{"sim takes the path of a code object"}, kUsage);
  Result<std::vector<std::byte>> bytes =
      runtime::readFile(options.file, uint64_t(1) << 31);
  if (!bytes)
    return report(bytes.takeError());
  auto object = sim::CodeObject::load(*bytes);
  if (!object)
    return report(Error{options.file + ": " + object.message()});
  if (options.kernel.empty())
    return list(**object);
  if (options.disassemble) {
    Result<std::string> text = (*object)->disassemble(options.kernel);
    if (!text)
      return report(text.takeError(), kUsage);
    say("{}", *text);
    return kFine;
  }
  return launch(options, *object);
}

} // namespace

void tool::addSimCommand(CLI::App &app, Action &action) {
  auto options = std::make_shared<SimOptions>();
  CLI::App *command = app.add_subcommand(
      "sim", "Run a kernel of any gfx950 code object on the simulated device");
  command->add_option("FILE", options->file, "A linked amdhsa code object");
  command->add_flag("--instructions", options->instructions,
                    "Print the page of instructions that are simulated");
  command->add_option("--kernel", options->kernel,
                      "Which kernel; without it the kernels are listed");
  command
      ->add_option("--grid", options->grid, "Workgroups: x, or x,y, or x,y,z")
      ->delimiter(',')
      ->expected(1, 3)
      ->capture_default_str();
  command
      ->add_option("--block", options->block,
                   "Work items of a workgroup: x, or x,y, or x,y,z")
      ->delimiter(',')
      ->expected(1, 3)
      ->capture_default_str();
  command
      ->add_option("--arg", options->arguments,
                   "The kernel's next argument: i32:N, u32:N, i64:N, u64:N, "
                   "f32:X, f64:X, or a buffer: zeros:BYTES, fresh:BYTES (never "
                   "written), file:PATH; a buffer may end in =>PATH, where it "
                   "is written after the launch")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("--disassemble", options->disassemble,
                    "Print the kernel's code instead of running it");
  command
      ->add_option("--lds", options->launch.dynamicLdsBytes,
                   "Bytes of dynamic LDS")
      ->capture_default_str();
  command
      ->add_option("--stack", options->launch.stackBytes,
                   "Bytes of stack of a work item, for kernels that recurse "
                   "or call through pointers")
      ->capture_default_str();
  command
      ->add_option("--limit", options->launch.instructionLimit,
                   "Wave instructions of a workgroup before it counts as a "
                   "runaway loop")
      ->capture_default_str();
  command
      ->add_option("--threads", options->launch.threads,
                   "Threads of the simulated device; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command
      ->add_option("--compute-units", options->launch.computeUnits,
                   "Compute units, which bound the workgroups that are there "
                   "at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  addObserveOptions(*command, options->observe);
  command->callback(
      [options, &action] { action = [options] { return run(*options); }; });
}
