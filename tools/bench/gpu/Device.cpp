// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the device can do: bytes copied and read a second, a launch in a graph.
#include "Cases.h"

#include <fmt/format.h>

using namespace winnow;
using namespace winnow::bench;
using runtime::CopyDirection;

namespace {

// Grids that copy or read [from, from + bytes) once, four 16-byte loads on
// their way in each thread, and a kernel that does nothing. In PTX, since the
// bench has no compiler. `bytes` is a multiple of 64 bytes a thread.
const char kHead[] = R"(
.version 7.8
.target sm_80
.address_size 64

.visible .entry bench_empty()
{
  ret;
}
)";

// Of either grid, from its parameters to what it has loaded in %r7 to %r22;
// %d3 is the thread's first byte, %d4 the step between its loads.
const char kLoads[] = R"((.param .u64 from, .param .u64 bytes, .param .u64 to)
{
  .reg .pred %p<3>;
  .reg .b32 %r<24>;
  .reg .b64 %d<16>;
  ld.param.u64 %d0, [from];
  ld.param.u64 %d1, [bytes];
  ld.param.u64 %d2, [to];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d2, %d2;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mad.lo.u32 %r4, %r0, %r1, %r2;
  mul.wide.u32 %d3, %r4, 16;
  mul.lo.u32 %r5, %r3, %r1;
  mul.wide.u32 %d4, %r5, 16;
  shl.b64 %d5, %d4, 2;
  mov.u32 %r6, 0;
loop:
  setp.ge.u64 %p0, %d3, %d1;
  @%p0 bra done;
  add.u64 %d6, %d0, %d3;
  add.u64 %d7, %d6, %d4;
  add.u64 %d8, %d7, %d4;
  add.u64 %d9, %d8, %d4;
  ld.global.nc.L1::no_allocate.v4.u32 {%r7, %r8, %r9, %r10}, [%d6];
  ld.global.nc.L1::no_allocate.v4.u32 {%r11, %r12, %r13, %r14}, [%d7];
  ld.global.nc.L1::no_allocate.v4.u32 {%r15, %r16, %r17, %r18}, [%d8];
  ld.global.nc.L1::no_allocate.v4.u32 {%r19, %r20, %r21, %r22}, [%d9];
)";

const char kStores[] = R"(
  add.u64 %d10, %d2, %d3;
  add.u64 %d11, %d10, %d4;
  add.u64 %d12, %d11, %d4;
  add.u64 %d13, %d12, %d4;
  st.global.v4.u32 [%d10], {%r7, %r8, %r9, %r10};
  st.global.v4.u32 [%d11], {%r11, %r12, %r13, %r14};
  st.global.v4.u32 [%d12], {%r15, %r16, %r17, %r18};
  st.global.v4.u32 [%d13], {%r19, %r20, %r21, %r22};
)";

// Into %r6, so that no load is left out.
const char kSums[] = R"(
  xor.b32 %r7, %r7, %r8;
  xor.b32 %r9, %r9, %r10;
  xor.b32 %r11, %r11, %r12;
  xor.b32 %r13, %r13, %r14;
  xor.b32 %r15, %r15, %r16;
  xor.b32 %r17, %r17, %r18;
  xor.b32 %r19, %r19, %r20;
  xor.b32 %r21, %r21, %r22;
  add.u32 %r7, %r7, %r9;
  add.u32 %r11, %r11, %r13;
  add.u32 %r15, %r15, %r17;
  add.u32 %r19, %r19, %r21;
  add.u32 %r7, %r7, %r11;
  add.u32 %r15, %r15, %r19;
  add.u32 %r6, %r6, %r7;
  add.u32 %r6, %r6, %r15;
)";

const char kNext[] = R"(
  add.u64 %d3, %d3, %d5;
  bra loop;
done:
)";

const char kStoreSum[] = R"(
  setp.ne.u32 %p1, %r6, 305419896;
  @%p1 bra end;
  st.global.u32 [%d2], %r6;
end:
)";

std::string ptx() {
  return std::string(kHead) + "\n.visible .entry bench_copy" + kLoads +
         kStores + kNext + "  ret;\n}\n\n.visible .entry bench_read" + kLoads +
         kSums + kNext + kStoreSum + "  ret;\n}\n";
}

constexpr uint64_t kThreads = 256, kGroupBytes = kThreads * 64,
                   kMostGroups = 2048;

/// Workgroups that share the bytes evenly.
uint32_t groupsFor(uint64_t bytes) {
  uint64_t groups = std::min(kMostGroups, bytes / kGroupBytes);
  while (bytes / kGroupBytes % groups)
    --groups;
  return uint32_t(groups);
}

struct Reader {
  std::shared_ptr<runtime::Module> module;
  void *read = nullptr, *copy = nullptr, *empty = nullptr;
  uint64_t out = 0;

  static Result<Reader> make(Session &session) {
    Reader reader;
    const std::string text = ptx();
    // With the zero at its end.
    auto module = session.device().loadModule(
        std::as_bytes(std::span(text.c_str(), text.size() + 1)));
    if (!module)
      return module.takeError();
    reader.module = *module;
    Result<void *> read = reader.module->function("bench_read");
    Result<void *> copy = reader.module->function("bench_copy");
    Result<void *> empty = reader.module->function("bench_empty");
    Result<uint64_t> out = session.allocate(256);
    for (Result<void *> *function : {&read, &copy, &empty})
      if (!*function)
        return function->takeError();
    if (!out)
      return out.takeError();
    reader.read = *read;
    reader.copy = *copy;
    reader.empty = *empty;
    reader.out = *out;
    return reader;
  }

  Status launch(Session &session, void *kernel, uint64_t from, uint64_t bytes,
                uint64_t to) const {
    const uint64_t arguments[] = {from, bytes, to};
    return session.device().launch(
        kernel, {groupsFor(bytes), 1, 1}, {uint32_t(kThreads), 1, 1}, 0,
        session.stream(), arguments, sizeof arguments);
  }
};

Result<Spread> timeRead(Bench &bench, const Reader &reader, uint64_t bytes) {
  const uint64_t whole = bench.pool.bytes() / bytes;
  const uint64_t count = std::clamp<uint64_t>(
      bench.coldBytes() / bytes, std::min<uint64_t>(4, whole), 1024);
  return bench.session.time(int64_t(count), [&]() -> Status {
    for (uint64_t i = 0; i < count; ++i)
      if (Status status = reader.launch(
              bench.session, reader.read,
              bench.pool.address() + i % whole * bytes, bytes, reader.out);
          !status)
        return status;
    return {};
  });
}

} // namespace

Status bench::timeDevice(Bench &bench) {
  Session &session = bench.session;
  const std::string group = "the device";
  auto rate = [](double bytes, double microseconds) {
    return bytes / microseconds * 1e6;
  };
  auto addRate = [&](const char *name, double bytes, const Spread &time,
                     double anchor) {
    bench.add(group, name,
              {1e-12 * rate(bytes, time.median), 1e-12 * rate(bytes, time.high),
               1e-12 * rate(bytes, time.low)},
              anchor);
  };
  const uint64_t bytes =
      std::min<uint64_t>(bench.pool.bytes() / 2, uint64_t(4) << 30);
  Result<uint64_t> target = session.allocate(bytes);
  if (!target)
    return target.takeError();
  // Not in a graph, where drivers have copied by slower means.
  Result<Spread> copy = session.timeEager(1, [&] {
    return session.device().copy(
        reinterpret_cast<void *>(*target),              // NOLINT
        reinterpret_cast<void *>(bench.pool.address()), // NOLINT
        bytes, CopyDirection::OnDevice, session.stream());
  });
  if (!copy)
    return copy.takeError();
  bench.copyBytesPerSecond = rate(2.0 * double(bytes), copy->median);
  addRate("copy by the driver, TB/s read and written", 2.0 * double(bytes),
          *copy, 4.25);
  if (!session.isCuda()) { // the kernels below are PTX
    session.release(*target);
    return {};
  }
  Result<Reader> reader = Reader::make(session);
  if (!reader)
    return reader.takeError();
  Result<Spread> kernelCopy = session.timeEager(1, [&] {
    return reader->launch(session, reader->copy, bench.pool.address(), bytes,
                          *target);
  });
  session.release(*target);
  Result<Spread> read = timeRead(bench, *reader, bytes);
  if (!kernelCopy || !read)
    return kernelCopy ? read.takeError() : kernelCopy.takeError();
  addRate("copy by a kernel, TB/s read and written", 2.0 * double(bytes),
          *kernelCopy, 4.25);
  addRate("read, TB/s", double(bytes), *read, 4.66);
  // What others are measured by is the better one.
  bench.copyBytesPerSecond = std::max(
      bench.copyBytesPerSecond, rate(2.0 * double(bytes), kernelCopy->median));
  constexpr int64_t launches = 512;
  auto launchEmpty = [&] {
    return session.device().launch(reader->empty, {1, 1, 1}, {32, 1, 1}, 0,
                                   session.stream(), nullptr, 0);
  };
  Result<Spread> empty = session.time(launches, [&]() -> Status {
    for (int64_t i = 0; i < launches; ++i)
      if (Status status = launchEmpty(); !status)
        return status;
    return {};
  });
  Result<Spread> host = session.timeCalls(launchEmpty, /*waits=*/false);
  if (!empty || !host)
    return empty ? host.takeError() : empty.takeError();
  bench.add(group, "an empty kernel in a graph, us", *empty);
  bench.add(group, "launching an empty kernel, us of the host", *host);
  // The fewest microseconds that the keys of a decode could be read in.
  struct Floor {
    int64_t tokens, requests;
    double anchor;
  };
  for (const Floor &at : {Floor{4096, 1, 2.6},
                          {4096, 4, 3.4},
                          {4096, 32, 10.4},
                          {4096, 128, 33.1},
                          {32768, 1, 4.5},
                          {32768, 4, 10.4},
                          {32768, 32, 62.9},
                          {32768, 128, 236},
                          {131072, 1, 10.3},
                          {131072, 4, 33.1},
                          {131072, 32, 235},
                          {131072, 128, 922}}) {
    const uint64_t keys = uint64_t(at.tokens * at.requests * kHeadDim) * 2;
    if (keys > bench.pool.bytes())
      continue;
    Result<Spread> floor = timeRead(bench, *reader, keys);
    if (!floor)
      return floor.takeError();
    bench.add("reading as many bytes as bf16 keys have, us",
              fmt::format("{} tokens x {}", at.tokens, at.requests), *floor,
              at.anchor);
  }
  return {};
}
