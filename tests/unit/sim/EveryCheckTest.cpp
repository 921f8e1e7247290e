// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One planted fault for each check, and every part of its report.
#include "TestKernels.h"

#include <gmock/gmock.h>

namespace winnow::sim::test {
namespace {

/// A planted fault, and what its report says after the place.
struct Planted {
  CheckKind kind;
  const char *body;
  const char *says;
};
void PrintTo(const Planted &p, std::ostream *out) { *out << nameOf(p.kind); }

class EveryCheck : public ::testing::TestWithParam<Planted> {};

// Kernel, workgroup, wave, instruction and source line of all of them; lane and
// address of those that are about an access.
TEST_P(EveryCheck, NamesThePlace) {
  const Planted &p = GetParam();
  auto object = load(compileHip(std::string("KERNEL k(u32 *data, u32 *fresh, "
                                            "u32 *gone) {\n") +
                                    p.body + "\n}\n",
                                "gfx950", "-gline-tables-only"));
  Device device;
  uint64_t data = upload(device, std::vector<uint32_t>(4096), "data");
  Result<uint64_t> fresh = device.alloc(16384, "fresh");
  uint64_t gone = upload(device, std::vector<uint32_t>(4096), "gone");
  ASSERT_TRUE(fresh && device.free(gone));
  Arguments arguments;
  arguments.add(data).add(*fresh).add(gone);
  for (CheckAction action : {CheckAction::Stop, CheckAction::Warn}) {
    LaunchOptions options;
    options.instructionLimit = 20000;
    options.checks.set(p.kind, action);
    auto stats = device.launch(object, "k", {2, 1, 1}, {128, 1, 1},
                               arguments.bytes, options);
    ASSERT_EQ(bool(stats), action == CheckAction::Warn)
        << (stats ? "" : stats.message());
    std::string report;
    if (!stats) {
      report = stats.message();
    } else {
      for (const Finding &finding : stats->findings)
        if (finding.kind == p.kind && report.empty())
          report = finding.message;
    }
    EXPECT_THAT(report,
                ::testing::ContainsRegex(
                    std::string("^kernel 'k', workgroup \\([01], 0, 0\\), wave "
                                "[01], at \\+0x[0-9a-f]+ `[a-z][^`]+` "
                                "\\(kernel.hip:14\\): ") +
                    std::string(nameOf(p.kind)) + ": " + p.says));
  }
}

const char *kLaneAndAddress = ".*0x[0-9a-f]+.*lane [0-9]+";
INSTANTIATE_TEST_SUITE_P(
    Kinds, EveryCheck,
    ::testing::Values(
        Planted{CheckKind::OutOfBounds, "data[4090 + TX] = 1;",
                kLaneAndAddress},
        Planted{CheckKind::UseAfterFree, "data[TX] = gone[TX];",
                kLaneAndAddress},
        Planted{CheckKind::UninitialisedGlobal, "data[TX] = fresh[TX];",
                kLaneAndAddress},
        Planted{CheckKind::UninitialisedLds,
                "SHARED u32 s[128]; data[TX] = ((volatile __attribute__(("
                "address_space(3))) u32 *)s)[TX];",
                kLaneAndAddress},
        Planted{CheckKind::LdsRace,
                "SHARED u32 s[128]; s[TX] = TX; "
                "__builtin_amdgcn_wave_barrier(); data[TX] = s[TX ^ 64];",
                kLaneAndAddress},
        Planted{CheckKind::GlobalRace, "data[TX & 63] = TX;", kLaneAndAddress},
        Planted{CheckKind::DivergentBarrier,
                "if (TX >= 64) __builtin_amdgcn_s_barrier();",
                "the wave passes a barrier at which 1 of"},
        Planted{CheckKind::MissingWait,
                "u32 v; asm volatile(\"global_load_dword %0, %1, off\\n"
                "v_add_u32 %0, %0, %0\\n s_waitcnt vmcnt(0)\" : \"=&v\"(v) : "
                "\"v\"(data)); data[TX] = v;",
                "overwrites vector register|reads vector register"},
        Planted{CheckKind::Deadlock,
                "while (__hip_atomic_load(data + 9, __ATOMIC_RELAXED, 4) == 0) "
                "{}",
                ".*0x[0-9a-f]+ in 'data' \\(lane 0\\)"},
        Planted{CheckKind::RunawayLoop,
                "for (u32 i = 1; i; i += 2) ((volatile u32 *)data)[TX] = i;",
                "the workgroup executed 20000 wave instructions"}),
    [](const auto &info) {
      std::string name(nameOf(info.param.kind));
      for (char &c : name)
        if (c == '-')
          c = '_';
      return name;
    });

} // namespace
} // namespace winnow::sim::test
