// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library that is hipRTC and NVRTC in one and does what the source asks for,
// bad things too: words of the form NAME=VALUE anywhere in it. Loaded by the
// real worker.
//
//   act=WHAT    see `misbehave`; "good" code is made by default
//   count=FILE  a byte is appended for each compilation
//   gauge=DIR   how many compile at once is appended to DIR/most
//   sleep=MS    how long a compilation takes
//   pid=FILE    the worker's process id (and its child's) go there
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

struct Program {
  std::string source, log, code;

  std::string word(const std::string &name) const {
    std::istringstream words(source);
    for (std::string word; words >> word;)
      if (word.starts_with(name + "="))
        return word.substr(name.size() + 1);
    return "";
  }
};

void append(const std::string &path, const std::string &text) {
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, text.data(), text.size()) < 0)
    std::perror(path.c_str());
  ::close(fd);
}

/// The header of an ELF file: a cubin, or one for AMDGPU with EF_AMDGPU_MACH as
/// in AMDGPUUsage.
std::string header(const std::string &arch) {
  std::string elf(64, '\0');
  if (arch.starts_with("sm_")) {
    std::memcpy(elf.data(), "\177ELF\2\1\1\0\10", 9);
    elf[18] = static_cast<char>(190);
    elf[49] = static_cast<char>(std::strtol(arch.c_str() + 3, nullptr, 10));
    return elf;
  }
  std::memcpy(elf.data(), "\177ELF\2\1\1", 7);
  elf[18] = static_cast<char>(224);
  elf[48] = arch.starts_with("gfx90a")   ? 0x3f
            : arch.starts_with("gfx942") ? 0x4c
                                         : 0x4f;
  return elf;
}

void writeAll(const std::string &bytes) {
  if (::write(3, bytes.data(), bytes.size()) < 0)
    std::perror("descriptor 3");
}

[[noreturn]] void sleepForever() {
  while (true)
    ::sleep(1000);
}

void eatMemory() {
  for (int i = 0; i < 64; ++i) { // 4 GiB: untouched pages cost nothing
    void *block = ::mmap(nullptr, size_t(64) << 20, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) {
      std::fprintf(stderr, "LLVM ERROR: out of memory\n");
      std::abort();
    }
  }
}

void misbehave(const std::string &act, Program &program) {
  if (act == "segv") {
    std::fprintf(stderr, "about to die\n");
    ::raise(SIGSEGV);
  } else if (act == "abort") {
    std::abort();
  } else if (act == "exit") {
    ::_exit(0);
  } else if (act == "hang") {
    std::fprintf(stderr, "thinking\n");
    sleepForever();
  } else if (act == "fork-and-hang") {
    if (const pid_t child = ::fork(); child == 0)
      sleepForever();
    else
      append(program.word("pid"), std::to_string(child) + "\n");
    sleepForever();
  } else if (act == "memory") {
    eatMemory();
  } else if (act == "garbage") {
    writeAll("error: I am not a message at all, but a line of text\n");
    sleepForever();
  } else if (act == "short") {
    writeAll("WINNOWRT\4");
    ::_exit(0);
  } else if (act == "oversized") {
    std::string message("WINNOWRT\4\0\0\0\1\0\0\0________", 24);
    writeAll(message + std::string("\0\0\0\0\0\1\0\0", 8));
    sleepForever();
  } else if (act == "checksum") {
    std::string message("WINNOWRT\4\0\0\0\1\0\0\0________", 24);
    writeAll(message + std::string("\1\0\0\0\0\0\0\0x", 9));
    sleepForever();
  } else if (act == "close") {
    ::close(3);
    sleepForever();
  } else if (act == "chatter") {
    const std::string line(1000, 'c');
    for (int i = 0; i < 10000; ++i)
      std::printf("%s\n", line.c_str());
  } else if (act == "no-elf") {
    program.code = "text";
  } else if (act == "no-code") {
    program.code.clear();
  } else if (act == "foreign") {
    program.code = header(program.word("target"));
  }
}

void gauge(const Program &program) {
  const std::string folder = program.word("gauge");
  if (folder.empty())
    return;
  const std::string own = folder + "/" + std::to_string(::getpid());
  append(own, "x");
  int running = 0;
  if (DIR *open = ::opendir(folder.c_str())) {
    while (const dirent *entry = ::readdir(open))
      running += entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
    ::closedir(open);
  }
  append(folder + "/most", std::to_string(running) + "\n");
  ::usleep(30000);
  ::unlink(own.c_str());
}

Program &as(void *program) { return *static_cast<Program *>(program); }

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char *hiprtcGetErrorString(int) { return "FAKE_ERROR"; }

EXPORT int hiprtcVersion(int *major, int *minor) {
  *major = 99;
  *minor = 1;
  return 0;
}

EXPORT int hiprtcCreateProgram(void **program, const char *source, const char *,
                               int, const char **, const char **) {
  *program = new Program{source, "", ""};
  return 0;
}

EXPORT int hiprtcDestroyProgram(void **program) {
  delete static_cast<Program *>(*program);
  return 0;
}

EXPORT int hiprtcCompileProgram(void *handle, int count, const char **options) {
  Program &program = as(handle);
  std::string arch;
  for (int i = 0; i < count; ++i)
    for (const std::string option : {"--offload-arch=", "--gpu-architecture="})
      if (std::string(options[i]).starts_with(option))
        arch = std::string(options[i]).substr(option.size());
  if (const std::string file = program.word("pid"); !file.empty())
    append(file, std::to_string(::getpid()) + "\n");
  if (const std::string file = program.word("count"); !file.empty())
    append(file, "x");
  gauge(program);
  if (const std::string time = program.word("sleep"); !time.empty())
    ::usleep(1000 *
             static_cast<unsigned>(std::strtol(time.c_str(), nullptr, 10)));
  const std::string act = program.word("act");
  if (act == "error") {
    program.log = "/tmp/x/comgr-123abc/input/k.hip:1:2: error: no such thing\n";
    return 6;
  }
  program.log = program.word("log");
  program.code = header(arch) + program.source;
  misbehave(act, program);
  return 0;
}

EXPORT int hiprtcGetProgramLogSize(void *program, size_t *size) {
  *size = as(program).log.size() + 1;
  return 0;
}

EXPORT int hiprtcGetProgramLog(void *program, char *log) {
  std::strcpy(log, as(program).log.c_str());
  return 0;
}

EXPORT int hiprtcGetCodeSize(void *program, size_t *size) {
  *size = as(program).code.size();
  return 0;
}

EXPORT int hiprtcGetCode(void *program, char *code) {
  std::copy(as(program).code.begin(), as(program).code.end(), code);
  return 0;
}

EXPORT const char *nvrtcGetErrorString(int) { return "FAKE_ERROR"; }

EXPORT int nvrtcVersion(int *major, int *minor) {
  return hiprtcVersion(major, minor);
}

EXPORT int nvrtcCreateProgram(void **program, const char *source,
                              const char *name, int headers, const char **texts,
                              const char **names) {
  return hiprtcCreateProgram(program, source, name, headers, texts, names);
}

EXPORT int nvrtcDestroyProgram(void **program) {
  return hiprtcDestroyProgram(program);
}

EXPORT int nvrtcCompileProgram(void *program, int count, const char **options) {
  return hiprtcCompileProgram(program, count, options);
}

EXPORT int nvrtcGetProgramLogSize(void *program, size_t *size) {
  return hiprtcGetProgramLogSize(program, size);
}

EXPORT int nvrtcGetProgramLog(void *program, char *log) {
  return hiprtcGetProgramLog(program, log);
}

EXPORT int nvrtcGetCUBINSize(void *program, size_t *size) {
  return hiprtcGetCodeSize(program, size);
}

EXPORT int nvrtcGetCUBIN(void *program, char *code) {
  return hiprtcGetCode(program, code);
}
