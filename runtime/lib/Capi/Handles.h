// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handles of the C interface: not addresses but numbers of a table, so that
// null, released and made-up ones are told apart from live ones without a lock.
#ifndef WINNOW_LIB_CAPI_HANDLES_H
#define WINNOW_LIB_CAPI_HANDLES_H

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace winnow::capi {

enum class Kind : uint8_t { Runtime = 1, Bundle, Device, Plan };

/// A handle has its kind in the top byte, which no address has, then a
/// generation that tells the uses of a place apart, then the place.
class HandleTable {
public:
  /// 0 where the table is full.
  uint64_t add(Kind kind, void *object);
  /// The object, or null.
  void *find(Kind kind, uint64_t handle) const {
    const Place *place = at(static_cast<uint32_t>(handle));
    if (!place || place->handle.load(std::memory_order_acquire) != handle ||
        handle >> 56 != static_cast<uint64_t>(kind))
      return nullptr;
    return place->object.load(std::memory_order_relaxed);
  }
  /// The object, which is no longer found after this; or null.
  void *remove(Kind kind, uint64_t handle);

private:
  struct Place {
    std::atomic<uint64_t> handle = 0;
    std::atomic<void *> object = nullptr;
    uint32_t generation = 0;
  };
  static constexpr uint32_t kPart = 256, kParts = 4096;
  using Part = std::array<Place, kPart>;

  const Place *at(uint32_t index) const {
    if (index >= kPart * kParts)
      return nullptr;
    const Part *part = parts[index / kPart].load(std::memory_order_acquire);
    return part ? &(*part)[index % kPart] : nullptr;
  }

  std::mutex writing;
  uint32_t used = 0;
  std::vector<uint32_t> free;
  std::vector<std::unique_ptr<Part>> owned;
  std::array<std::atomic<Part *>, kParts> parts{};
};

HandleTable &handles();

/// A handle as the C interface passes it around. Nobody follows it: it is no
/// address.
template <typename Opaque> Opaque *opaque(uint64_t handle) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<Opaque *>(handle);
}

/// Gives an object to the table, whose caller has to remove it; 0, and the
/// object stays, where the table is full.
template <typename Object>
uint64_t addOwned(Kind kind, std::unique_ptr<Object> &object) {
  const uint64_t handle = handles().add(kind, object.get());
  if (handle == 0)
    return 0;
  [[maybe_unused]] const Object *given = object.release();
  return handle;
}

} // namespace winnow::capi

#endif // WINNOW_LIB_CAPI_HANDLES_H
