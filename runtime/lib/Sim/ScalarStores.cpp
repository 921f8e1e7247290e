// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SMEM: stores and atomics of scalar registers, once for the wave whatever EXEC
// says. The scalar cache, which holds them back until s_dcache_wb, is not
// modelled, as no other one is.
#include "AtomicMath.h"
#include "Elf.h"
#include "MemoryAccess.h"

#include <deque>

namespace winnow::sim {
namespace {

/// The bytes, or what an access outside of everything gets: null after a stop.
uint8_t *place(Wave &w, const Instruction &in, unsigned size,
               const char *what) {
  uint64_t address;
  if (!scalarAddress(w, in, size, address))
    return nullptr;
  if (uint8_t *bytes = w.memory.resolve(address, size))
    return bytes;
  return w.outside(in, outsideKind(w, address),
                   std::string("scalar ") + what + " of " +
                       std::to_string(size) + " bytes at " + hex(address) +
                       " is outside every live allocation: " +
                       w.memory.all().describeNear(address));
}

template <unsigned Dwords> void scalarStore(Wave &w, const Instruction &in) {
  uint8_t *to = place(w, in, 4 * Dwords, "store");
  if (!to)
    return;
  w.group->bytesStored += 4 * Dwords;
  changing(w, AccessKind::Store, to, 4 * Dwords,
           [&] { std::memcpy(to, &w.sgpr[in.source[2].index], 4 * Dwords); });
}

template <typename T> T dataOf(const Wave &w, unsigned first) {
  T value;
  std::memcpy(&value, &w.sgpr[first], sizeof(T));
  return value;
}

template <typename T>
void apply(Wave &w, const Instruction &in,
           T (*change)(uint8_t *, Wave &, unsigned)) {
  uint8_t *at = place(w, in, sizeof(T), "atomic");
  if (!at)
    return;
  if (reinterpret_cast<uintptr_t>(at) % sizeof(T))
    return w.stop(in, "an atomic at an address that is not a multiple of " +
                          std::to_string(sizeof(T)));
  w.group->bytesLoaded += sizeof(T);
  w.group->bytesStored += sizeof(T);
  T old{};
  changing(w, AccessKind::Atomic, at, sizeof(T),
           [&] { old = change(at, w, in.source[2].index); });
  if (in.returnsValue)
    std::memcpy(&w.sgpr[in.destination.index], &old, sizeof(T));
}

template <typename T, auto Fn>
void scalarAtomic(Wave &w, const Instruction &in) {
  apply<T>(w, in, [](uint8_t *at, Wave &wave, unsigned data) {
    return atomic::update<T, Fn>(at, dataOf<T>(wave, data));
  });
}
/// Data is the new value, then the expected one.
template <typename T> void compareSwap(Wave &w, const Instruction &in) {
  apply<T>(w, in, [](uint8_t *at, Wave &wave, unsigned data) {
    return atomic::compareExchange<T>(
        at, dataOf<T>(wave, data + unsigned(sizeof(T)) / 4),
        dataOf<T>(wave, data));
  });
}

class Table {
public:
  Table() {
    for (const char *prefix : {"s_", "s_buffer_"}) {
      row(prefix, "store_dword", "", &scalarStore<1>, 1, 0);
      row(prefix, "store_dwordx2", "", &scalarStore<2>, 2, 0);
      row(prefix, "store_dwordx4", "", &scalarStore<4>, 4, 0);
      integers<uint32_t, int32_t>(prefix, "");
      integers<uint64_t, int64_t>(prefix, "_x2");
    }
  }
  std::vector<Operation> rows;

private:
  void row(const char *prefix, const char *what, const char *suffix,
           Handler handler, unsigned data, unsigned result) {
    Operation op{
        names.emplace_back(std::string(prefix) + what + suffix).c_str(),
        handler, InstructionClass::ScalarMemory};
    op.sources[2] = ValueType::B32;
    op.dataRegisters = uint8_t(data);
    op.resultRegisters = uint8_t(result);
    rows.push_back(op);
  }
  template <typename U, typename S>
  void integers(const char *prefix, const char *suffix) {
    constexpr unsigned words = sizeof(U) / 4;
    auto one = [&](const char *what, Handler handler, unsigned operands = 1) {
      row(prefix, what, suffix, handler, operands * words, words);
    };
    one("atomic_swap", &scalarAtomic<U, atomic::exchange>);
    one("atomic_cmpswap", &compareSwap<U>, 2);
    one("atomic_add", &scalarAtomic<U, atomic::add>);
    one("atomic_sub", &scalarAtomic<U, atomic::sub>);
    one("atomic_smin", &scalarAtomic<S, atomic::minimum>);
    one("atomic_umin", &scalarAtomic<U, atomic::minimum>);
    one("atomic_smax", &scalarAtomic<S, atomic::maximum>);
    one("atomic_umax", &scalarAtomic<U, atomic::maximum>);
    one("atomic_and", &scalarAtomic<U, atomic::bitAnd>);
    one("atomic_or", &scalarAtomic<U, atomic::bitOr>);
    one("atomic_xor", &scalarAtomic<U, atomic::bitXor>);
    one("atomic_inc", &scalarAtomic<U, atomic::increment>);
    one("atomic_dec", &scalarAtomic<U, atomic::decrement>);
  }
  std::deque<std::string> names;
};

} // namespace

std::span<const Operation> scalarStoreOperations() {
  static const Table table;
  return table.rows;
}

} // namespace winnow::sim
