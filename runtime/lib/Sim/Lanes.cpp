// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operand and result paths of vector instructions that need more than a copy.
#include "Lanes.h"

#include "FloatFormats.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace winnow::sim {

namespace {

/// The lane that DPP reads for `lane`, or -1 outside (CDNA4 ISA, "DPP").
int dppSource(unsigned control, unsigned lane) {
  unsigned row = lane & ~15u, at = lane & 15;
  if (control < 0x100)
    return int((lane & ~3u) | (control >> (2 * (lane & 3)) & 3));
  unsigned n = control & 15;
  if (control > 0x100 && control < 0x110) // row_shl
    return at + n < 16 ? int(lane + n) : -1;
  if (control > 0x110 && control < 0x120) // row_shr
    return at >= n ? int(lane - n) : -1;
  if (control > 0x120 && control < 0x130) // row_ror
    return int(row | ((at - n) & 15));
  if (control >= 0x150 && control < 0x160) // row_newbcast
    return int(row + n);
  switch (control) {
  case 0x130: // wave_shl:1
    return lane < 63 ? int(lane + 1) : -1;
  case 0x134: // wave_rol:1
    return int((lane + 1) & 63);
  case 0x138: // wave_shr:1
    return int(lane) - 1;
  case 0x13c: // wave_ror:1
    return int((lane - 1) & 63);
  case 0x140: // row_mirror
    return int(row + 15 - at);
  case 0x141: // row_half_mirror
    return int((lane & ~7u) + 7 - (lane & 7));
  case 0x142: // row_bcast:15
    return row ? int(row - 1) : -1;
  case 0x143: // row_bcast:31
    return lane >= 32 ? 31 : -1;
  default:
    return -2;
  }
}

/// Source lanes of every control, 9 bits of it.
const int8_t *dppSources(unsigned control) {
  static const auto table = [] {
    std::array<std::array<int8_t, kLanes>, 512> all;
    for (unsigned c = 0; c < all.size(); ++c)
      for (unsigned l = 0; l < kLanes; ++l)
        all[c][l] = int8_t(dppSource(c, l));
    return all;
  }();
  return table[control & 511].data();
}

/// Lanes whose source lane exists and is active.
uint64_t dppValid(const Wave &w, const int8_t *from) {
  uint64_t exec = w.exec(), valid = 0;
  for (unsigned l = 0; l < kLanes; ++l)
    if (from[l] >= 0 && (exec >> from[l] & 1))
      valid |= uint64_t(1) << l;
  return valid;
}

void broadcast(uint32_t *to, uint32_t value) {
  for (unsigned l = 0; l < kLanes; ++l)
    to[l] = value;
}

void selectSdwa(uint32_t *values, unsigned select, bool signExtend) {
  unsigned width = select < 4 ? 8 : 16;
  unsigned shift = select < 4 ? 8 * select : 16 * (select - 4);
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t field = values[l] >> shift << (32 - width);
    values[l] = signExtend ? uint32_t(int32_t(field) >> (32 - width))
                           : field >> (32 - width);
  }
}

void flush32(uint32_t *values) {
  for (unsigned l = 0; l < kLanes; ++l)
    if (!(values[l] & 0x7f800000))
      values[l] &= 0x80000000;
}
void flush16(uint32_t *values) {
  for (unsigned l = 0; l < kLanes; ++l)
    if (!(values[l] & 0x7c00))
      values[l] &= 0xffff8000;
}
void flush64(uint32_t *low, uint32_t *high) {
  for (unsigned l = 0; l < kLanes; ++l)
    if (!(high[l] & 0x7ff00000)) {
      high[l] &= 0x80000000;
      low[l] = 0;
    }
}
void flush(ValueType type, LaneBuffer &b) {
  if (type == ValueType::F32)
    flush32(b.low);
  else if (type == ValueType::F16)
    flush16(b.low);
  else if (type == ValueType::F64)
    flush64(b.low, b.high);
}

/// mul:2, mul:4, div:2. They are not IEEE operations: -0 becomes +0.
template <typename T>
T scaleResult(T value, unsigned modifier, Rounding rounding) {
  static constexpr int powers[] = {0, 1, 2, -1};
  return modifier ? exact::scale(value, powers[modifier], rounding) + T(0)
                  : value;
}

void modifyResult(Wave &w, const Instruction &in, ValueType type,
                  LaneBuffer &b) {
  // IEEE mode and denormal results switch them off (CDNA4 ISA, "Output
  // Modifiers").
  bool isOff = (w.mode & kModeIeee) || keepsDenormals(w, type, true);
  unsigned modifier = isOff ? 0 : in.outputModifier;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (type == ValueType::F32) {
      float v = scaleResult(std::bit_cast<float>(b.low[l]), modifier,
                            roundingOf<float>(w));
      b.low[l] = std::bit_cast<uint32_t>(in.clamp ? clampUnit(w, v) : v);
    } else if (type == ValueType::F16) {
      Half scaled{uint16_t(b.low[l])};
      if (modifier) {
        // Exact in f32, and +0 for -0; f16 rounds it.
        float v = scaleResult(halfToFloat(scaled.bits), modifier, {});
        scaled = exact::convert<Half>(v, roundingOf<Half>(w));
      }
      float v = halfToFloat(scaled.bits);
      b.low[l] = in.clamp ? floatToHalf(clampUnit(w, v)) : scaled.bits;
    } else {
      uint64_t bits = uint64_t(b.high[l]) << 32 | b.low[l];
      double v = scaleResult(std::bit_cast<double>(bits), modifier,
                             roundingOf<double>(w));
      setLane(b, l, in.clamp ? clampUnit(w, v) : v);
    }
  }
}

} // namespace

uint64_t dppWriteMask(const Wave &w, const Instruction &in) {
  uint64_t mask = dppValid(w, dppSources(in.dppControl));
  if (in.boundControl)
    mask = ~uint64_t(0);
  for (unsigned l = 0; l < kLanes; ++l)
    if (!(in.rowMask >> (l / 16) & 1) || !(in.bankMask >> (l % 16 / 4) & 1))
      mask &= ~(uint64_t(1) << l);
  return mask & w.exec();
}

LaneView readLanes(Wave &w, const Instruction &in, unsigned which,
                   ValueType type, LaneBuffer &b) {
  const Operand &s = in.source[which];
  bool wide = registersOf(type) == 2;
  if (s.kind == Operand::Kind::Vgpr) {
    std::memcpy(b.low, w.row(s.index), sizeof(b.low));
    if (wide)
      std::memcpy(b.high, w.row(s.index + 1), sizeof(b.high));
  } else if (wide) {
    uint64_t value = readScalar64(w, s);
    broadcast(b.low, uint32_t(value));
    broadcast(b.high, uint32_t(value >> 32));
  } else {
    broadcast(b.low, readScalar32(w, s));
  }
  if (which == 0 && in.isDpp) {
    const int8_t *from = dppSources(in.dppControl);
    if (from[0] == -2) {
      w.stop(in, "its DPP control " + std::to_string(in.dppControl) +
                     " is not simulated");
      return {b.low, b.high};
    }
    uint64_t valid = dppValid(w, from);
    LaneBuffer old{};
    std::memcpy(old.low, b.low, sizeof(old.low));
    if (wide)
      std::memcpy(old.high, b.high, sizeof(old.high));
    for (unsigned l = 0; l < kLanes; ++l) {
      bool ok = valid >> l & 1;
      b.low[l] = ok ? old.low[from[l]] : 0;
      if (wide)
        b.high[l] = ok ? old.high[from[l]] : 0;
    }
  }
  if (s.select != 6)
    selectSdwa(b.low, s.select, s.signExtend);
  else if (s.highHalf && (type == ValueType::B16 || type == ValueType::F16))
    for (unsigned l = 0; l < kLanes; ++l)
      b.low[l] >>= 16;
  if (isFloat(type)) {
    uint32_t sign = type == ValueType::F16 ? 0x8000u : 0x80000000u;
    uint32_t *words = type == ValueType::F64 ? b.high : b.low;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (s.absolute)
        words[l] &= ~sign;
      if (s.negate)
        words[l] ^= sign;
    }
    if (!keepsDenormals(w, type, false))
      flush(type, b);
  }
  return {b.low, b.high};
}

void writeLanes(Wave &w, const Instruction &in, ValueType type, LaneBuffer &b) {
  if (w.state == WaveState::Stopped)
    return;
  uint64_t mask = in.isDpp ? dppWriteMask(w, in) : w.exec();
  if (isFloat(type)) {
    if (in.outputModifier || in.clamp)
      modifyResult(w, in, type, b);
    if (!keepsDenormals(w, type, true))
      flush(type, b);
    if (w.state == WaveState::Stopped)
      return;
  }
  unsigned to = in.destination.index;
  const uint32_t *old = w.row(to);
  if (in.isSdwa && in.sdwaSelect != 6) {
    unsigned width = in.sdwaSelect < 4 ? 8 : 16;
    unsigned shift =
        in.sdwaSelect < 4 ? 8 * in.sdwaSelect : 16 * (in.sdwaSelect - 4);
    uint32_t field = (width == 8 ? 0xffu : 0xffffu) << shift;
    for (unsigned l = 0; l < kLanes; ++l) {
      uint32_t value = b.low[l] << shift & field;
      if (in.sdwaUnused == 2)
        value |= old[l] & ~field;
      else if (in.sdwaUnused == 1)
        value = uint32_t(int32_t(value << (32 - width - shift)) >>
                         (32 - width - shift));
      b.low[l] = value;
    }
  } else if (type == ValueType::B16 || type == ValueType::F16) {
    for (unsigned l = 0; l < kLanes; ++l) {
      uint32_t value = b.low[l] & 0xffff;
      if (in.highDestination)
        value = value << 16 | (old[l] & 0xffff);
      else if (in.keepsOtherHalf)
        value |= old[l] & 0xffff0000;
      b.low[l] = value;
    }
  }
  commit(w, to, b.low, mask);
  if (registersOf(type) == 2)
    commit(w, to + 1, b.high, mask);
}

} // namespace winnow::sim
