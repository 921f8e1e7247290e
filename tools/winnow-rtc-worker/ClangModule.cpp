// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clang and lld in the worker's own process: half the time of driving the
// executables. A module, loaded only where clang is asked for.
#include "Backend.h"

#include "lld/Common/Driver.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/FrontendTool/Utils.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

LLD_HAS_DRIVER(elf)

using namespace winnow;
using namespace winnow::rtc;

namespace {

constexpr char kObject[] = "kernels.o", kCode[] = "kernels.so";

/// Passes that find nothing to do in generated kernels, where leaf functions
/// are inlined and loops unrolled as the templates say: without them clang
/// takes 7 % less time, for the same bytes. The last two make kernels longer, a
/// selection by three instructions and by 13 a wave.
#define WINNOW_PASSES_LEFT_OUT                                                 \
  "callsite-splitting,called-value-propagation,globalopt,mem2reg,"             \
  "amdgpu-usenative,amdgpu-simplifylib,"                                       \
  "amdgpu-uniform-intrinsic-combine,function-attrs,argpromotion,"              \
  "jump-threading,libcalls-shrinkwrap,tailcallelim,"                           \
  "constraint-elimination,mldst-motion,bdce,memcpyopt,dse,"                    \
  "loop-instsimplify,loop-simplifycfg,simple-loop-unswitch,"                   \
  "loop-idiom,float2int,loop-distribute,loop-vectorize,"                       \
  "loop-load-elim,loop-sink,instsimplify,div-rem-pairs,"                       \
  "nary-reassociate,mergeicmps,machinelicm,lower-expect,"                      \
  "postra-machine-sink,openmp-opt-cgscc,deadargelim,slsr,"                     \
  "amdgpu-atomic-optimizer"

/// What the clang driver passes for --offload-arch, -O3, -std=c++17,
/// -fuse-cuid=none, -nogpuinc and -nogpulib, less what searches the disk.
const char *const kOptions[] = {
    "-triple", "amdgcn-amd-amdhsa", "-aux-triple", "x86_64-pc-linux-gnu", "-O3",
    "-emit-obj", "-disable-free", "-clear-ast-before-backend",
    "-disable-llvm-verifier", "-discard-value-names", "-mrelocation-model",
    "pic", "-pic-level", "2", "-fhalf-no-semantic-interposition",
    "-mframe-pointer=none", "-fno-rounding-math", "-mconstructor-aliases",
    "-aux-target-cpu", "x86-64", "-fcuda-is-device", "-fno-threadsafe-statics",
    "-mllvm", "-amdgpu-internalize-symbols", "-mllvm",
    "-opt-disable=" WINNOW_PASSES_LEFT_OUT,
    // Inline assembly counts as an indirect call: where some goes away,
    // everything would run once more.
    "-mllvm", "-max-devirt-iterations=0", "-fcuda-allow-variadic-functions",
    "-fvisibility=hidden", "-fapply-global-visibility-to-externs", "-std=c++17",
    "-fdeprecated-macro", "-fno-autolink", "-ferror-limit", "19",
    "-fhip-new-launch-api", "-fgnuc-version=4.2.1", "-fskip-odr-check-in-gmf",
    "-fcxx-exceptions", "-fexceptions", "-vectorize-loops", "-vectorize-slp",
    "-faddrsig", "-fdwarf2-cfi-asm", "-fdebug-compilation-dir=.",
    "-nostdsysteminc", "-nobuiltininc"};
const char *const kLink[] = {"ld.lld",         "-m",      "elf64_amdgpu",
                             "--no-undefined", "-shared", "--threads=1",
                             kObject,          "-o",      kCode};

/// "gfx950:sramecc+:xnack-" as cc1 has it: the processor, and each feature with
/// its sign in front.
Result<std::vector<std::string>> targetOptions(llvm::StringRef target) {
  auto [cpu, features] = target.split(':');
  std::vector<std::string> options = {"-target-cpu", cpu.str()};
  while (!features.empty()) {
    llvm::StringRef feature;
    std::tie(feature, features) = features.split(':');
    const char sign = feature.empty() ? ' ' : feature.back();
    if (feature.size() < 2 || (sign != '+' && sign != '-'))
      return Error{"target '" + target.str() + "': feature '" + feature.str() +
                   "' ends in neither + nor -"};
    options.push_back("-target-feature");
    options.push_back(sign + feature.drop_back().str());
  }
  return options;
}

class Clang : public Backend {
public:
  Clang() {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUAsmParser();
  }

  std::string name() override {
    std::string text = clang::getClangFullVersion();
    for (const char *option : kOptions)
      text += std::string(" ") + option;
    text += ";";
    for (const char *option : kLink)
      text += std::string(" ") + option;
    return text;
  }

  Result<Output> compile(const Program &program) override {
    Output output;
    if (Status status = toObject(program, output.log); !status)
      return status.takeError();
    std::string linker;
    llvm::raw_string_ostream said(linker);
    const lld::Result linked =
        lld::lldMain(kLink, said, said, {{lld::Gnu, &lld::elf::link}});
    if (linked.retCode != 0)
      return Error{"ld.lld failed with " + std::to_string(linked.retCode) +
                   ":\n" + output.log + linker};
    output.log += linker;
    auto code = llvm::MemoryBuffer::getFile(kCode, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!code)
      return Error{"cannot read the linked code object: " +
                   code.getError().message()};
    output.code = (*code)->getBuffer().str();
    return output;
  }

private:
  Status toObject(const Program &program, std::string &log) {
    Result<std::vector<std::string>> target = targetOptions(program.target);
    if (!target)
      return target.takeError();
    std::vector<const char *> options(std::begin(kOptions), std::end(kOptions));
    for (const std::string &option : *target)
      options.push_back(option.c_str());
    for (const char *option : {"-main-file-name", program.name.c_str(), "-o",
                               kObject, "-x", "hip", program.name.c_str()})
      options.push_back(option);

    // Nothing of the disk can be included, whatever the source says.
    auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    files->addFile(
        program.name, 0,
        llvm::MemoryBuffer::getMemBuffer(program.text, program.name, false));
    llvm::raw_string_ostream said(log);
    clang::DiagnosticOptions diagnostics;
    clang::TextDiagnosticPrinter printer(said, diagnostics);
    clang::CompilerInstance compiler;
    compiler.setVirtualFileSystem(files);
    compiler.createDiagnostics(&printer, /*ShouldOwnClient=*/false);
    const bool compiled =
        clang::CompilerInvocation::CreateFromArgs(
            compiler.getInvocation(), options, compiler.getDiagnostics()) &&
        clang::ExecuteCompilerInvocation(&compiler);
    said.flush();
    if (!compiled)
      return Error{log};
    return {};
  }
};

} // namespace

extern "C" __attribute__((visibility("default"))) Backend *winnow_rtc_clang() {
  return new Clang;
}
