// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KeyPool.h"

#include "Describe.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

using namespace winnow;
using namespace winnow::bench;
using runtime::DType;

namespace {

/// splitmix64's finisher (Steele, Lea, Flood, 2014).
uint64_t mix(uint64_t number) {
  uint64_t z = (number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

} // namespace

void bench::makeNumbers(DType dtype, uint64_t first,
                        std::span<uint64_t> words) {
  // Sign, the exponent's last bit and the mantissa are random; the rest of the
  // exponent says 1/8 to 1/2.
  const bool isBf16 = dtype == DType::BF16;
  const uint64_t keep = isBf16 ? 0x80ff80ff80ff80ffu : 0x8f8f8f8f8f8f8f8fu;
  const uint64_t base = isBf16 ? 0x3e003e003e003e00u : 0x2020202020202020u;
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = (mix(first + i) & keep) | base;
}

Result<std::unique_ptr<KeyPool>> KeyPool::make(Session &session,
                                               uint64_t bytes) {
  std::unique_ptr<KeyPool> pool(new KeyPool(session));
  Result<uint64_t> memory = session.allocate(bytes);
  if (!memory)
    return memory.takeError();
  pool->memory = *memory;
  pool->size = bytes;
  return pool;
}

uint64_t KeyPool::pageBytes() const {
  return uint64_t(kBlockSize * kHeadDim * runtime::byteWidth(dtype));
}

Status KeyPool::fill(DType type) {
  dtype = type;
  constexpr uint64_t chunkBytes = uint64_t(256) << 20;
  std::vector<uint64_t> words(std::min(chunkBytes, size) / 8);
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  for (uint64_t at = 0; at < size; at += words.size() * 8) {
    const size_t count = std::min<uint64_t>(words.size(), (size - at) / 8);
    const size_t share = (count + threads - 1) / threads;
    std::vector<std::thread> workers;
    for (size_t first = 0; first < count; first += share)
      workers.emplace_back([&, first] {
        makeNumbers(
            type, at / 8 + first,
            std::span(words).subspan(first, std::min(share, count - first)));
      });
    for (std::thread &worker : workers)
      worker.join();
    if (Status status = session.write(
            memory + at, std::as_bytes(std::span(words).first(count)));
        !status)
      return status;
  }
  order.resize(size_t(pages()));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(7));
  dealt = 0;
  return {};
}

int32_t KeyPool::nextPage() {
  const int32_t page = order[dealt];
  dealt = (dealt + 1) % order.size();
  return page;
}

void KeyPool::readPage(int32_t page, std::span<std::byte> bytes) const {
  makeNumbers(dtype, uint64_t(page) * pageBytes() / 8,
              {reinterpret_cast<uint64_t *>(bytes.data()), bytes.size() / 8});
}
