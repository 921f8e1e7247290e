// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random inputs, and those of a safetensors file.
#include "Inputs.h"
#include "RankInputs.h"
#include "Safetensors.h"

#include "winnow/Reference/NumberFormats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace winnow;
using namespace winnow::tool;
using runtime::DType;

namespace {

/// splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014): the standard library's distributions differ between
/// implementations, and a seed should not.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform below `bound`, which is far below 2^64: the bias does not matter.
  uint64_t below(uint64_t bound) { return next() % bound; }

private:
  uint64_t state;
};

uint16_t toBF16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  // Nearest even on the upper half; the values here are finite.
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// e5m2 is the upper byte of an f16; nearest even on the other eight bits.
uint8_t toF8E5M2(float value) {
  const uint16_t half = reference::encodeF16(value);
  return static_cast<uint8_t>((half + 0x7f + ((half >> 8) & 1)) >> 8);
}

/// Writes a finite value as `dtype`; false for a type that queries never have.
bool encode(DType dtype, float value, std::byte *to) {
  switch (dtype) {
  case DType::F8E4M3FN: {
    const uint8_t code = reference::encodeF8E4M3FN(value);
    std::memcpy(to, &code, sizeof code);
    return true;
  }
  case DType::BF16: {
    const uint16_t code = toBF16(value);
    std::memcpy(to, &code, sizeof code);
    return true;
  }
  case DType::F16: {
    const uint16_t code = reference::encodeF16(value);
    std::memcpy(to, &code, sizeof code);
    return true;
  }
  case DType::F8E5M2: {
    const uint8_t code = toF8E5M2(value);
    std::memcpy(to, &code, sizeof code);
    return true;
  }
  case DType::F32:
    std::memcpy(to, &value, sizeof value);
    return true;
  default:
    return false;
  }
}

/// The sum of four bytes is near enough to a bell curve: mean 510, variance
/// 4 * (256^2 - 1) / 12. All 1021 sums are encoded once.
class Bell {
public:
  explicit Bell(DType dtype) : width(runtime::byteWidth(dtype)) {
    const float scale = 1.0f / std::sqrt(4.0f * 65535.0f / 12.0f);
    codes.resize(1021 * width);
    for (int sum = 0; sum < 1021; ++sum)
      known = encode(dtype, static_cast<float>(sum - 510) * scale,
                     &codes[sum * width]);
  }
  explicit operator bool() const { return known; }

  /// `count` elements from `to` on.
  void fill(std::byte *to, int64_t count, Random &random) const {
    uint64_t bits = 0;
    for (int64_t i = 0; i < count; ++i) {
      bits = i % 2 ? bits >> 32 : random.next();
      const uint64_t sum = (bits & 0xff) + ((bits >> 8) & 0xff) +
                           ((bits >> 16) & 0xff) + ((bits >> 24) & 0xff);
      std::memcpy(to + i * width, &codes[sum * width], width);
    }
  }

private:
  int64_t width;
  std::vector<std::byte> codes;
  bool known = false;
};

/// `count` distinct numbers below `bound`, shuffled.
std::vector<int32_t> distinct(int64_t count, int64_t bound, Random &random) {
  std::vector<int32_t> numbers(bound);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int64_t i = 0; i < count; ++i)
    std::swap(numbers[i],
              numbers[i + static_cast<int64_t>(random.below(bound - i))]);
  numbers.resize(count);
  return numbers;
}

Status checkLengths(const Indexer &indexer,
                    const std::vector<int32_t> &lengths) {
  const runtime::Entry &entry = *indexer.entry;
  if (static_cast<int64_t>(lengths.size()) > entry.maxRequests)
    return Error{std::to_string(lengths.size()) + " requests, '" + entry.name +
                 "' was built for at most " +
                 std::to_string(entry.maxRequests) + " (max_requests)"};
  for (size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] > entry.maxSeqLen)
      return Error{"request " + std::to_string(i) + " has " +
                   std::to_string(lengths[i]) + " tokens, '" + entry.name +
                   "' was built for at most " +
                   std::to_string(entry.maxSeqLen) + " (max_seq_len)"};
  return {};
}

/// The offsets of ragged rows: well formed, and within the bounds.
Status checkRows(const Indexer &indexer, const reference::Rows &rows) {
  if (reference::Problem problem = rows.verify())
    return Error{*problem};
  if (!rows.ragged())
    return {};
  const runtime::Entry &entry = *indexer.entry;
  for (int64_t request = 0; request < rows.requests(); ++request)
    if (rows.rowsOf(request) > entry.maxQueryLen)
      return Error{"request " + std::to_string(request) + " has " +
                   std::to_string(rows.rowsOf(request)) + " new tokens, '" +
                   entry.name + "' was built for at most " +
                   std::to_string(entry.maxQueryLen) + " (max_query_len)"};
  if (rows.rows() > entry.maxRows)
    return Error{std::to_string(rows.rows()) + " new tokens, '" + entry.name +
                 "' was built for at most " + std::to_string(entry.maxRows) +
                 " (max_rows)"};
  return {};
}

/// Running sums of the new tokens; empty for uniform rows.
Result<std::vector<int32_t>> offsetsOf(const Indexer &indexer,
                                       const std::vector<int32_t> &newTokens,
                                       size_t requests) {
  if (!indexer.ragged())
    return newTokens.empty()
               ? Result<std::vector<int32_t>>(std::vector<int32_t>())
               : Error{"new tokens were given, the rows of '" +
                       indexer.entry->name + "' are uniform"};
  if (newTokens.size() != requests)
    return Error{"new tokens of " + std::to_string(newTokens.size()) +
                 " requests were given, there are " + std::to_string(requests)};
  std::vector<int32_t> offsets{0};
  int64_t sum = 0;
  for (int32_t count : newTokens) {
    sum += count;
    if (count < 0 || sum > INT32_MAX)
      return Error{"new tokens " + std::to_string(count) +
                   ": wanted at least 0, and at most " +
                   std::to_string(INT32_MAX) + " in all"};
    offsets.push_back(static_cast<int32_t>(sum));
  }
  return offsets;
}

/// Fills the table rows of all requests from the numbers in `pages`, in order.
void fillTable(HostTensor &tensor, const reference::Rows &rows,
               const std::vector<int32_t> &pages) {
  auto table = tensor.as<int32_t, 2>();
  size_t next = 0;
  for (int64_t request = 0; request < rows.requests(); ++request) {
    const int64_t blocks = rows.blocksSeen(request);
    for (int64_t block = 0; block < blocks; ++block)
      table(request, block) = pages[next++];
  }
}

/// Tokens past the end of each context get keys that agree in sign with the
/// query everywhere, as large as the format has them: unmasked, they win.
void plantPastTheEnd(Call &call, const std::vector<int32_t> &pages) {
  const Indexer &indexer = *call.indexer;
  const HostTensor &query = call.arguments[indexer.query];
  HostTensor &keys = call.arguments[indexer.keys];
  const reference::NumberView queries = query.asNumbers();
  const reference::Rows rows = call.rows();
  const int64_t width = runtime::byteWidth(keys.view.dtype);
  size_t next = 0;
  for (int64_t request = 0; request < rows.requests(); ++request) {
    const int64_t blocks = rows.blocksSeen(request);
    next += static_cast<size_t>(blocks);
    if (blocks == 0)
      continue;
    const int64_t row = rows.firstRow(request + 1) - 1;
    const int64_t used =
        rows.tokensSeen(request) - (blocks - 1) * rows.blockSize;
    for (int64_t token = used; token < rows.blockSize; ++token)
      for (int64_t d = 0; d < indexer.headDim; ++d) {
        const float sign = std::signbit(queries(row, 0, d)) ? -1.0f : 1.0f;
        const int64_t element = pages[next - 1] * keys.view.strides[0] +
                                token * keys.view.strides[1] + d;
        encode(keys.view.dtype, sign * 448.0f, &keys.bytes[element * width]);
      }
  }
}

} // namespace

std::vector<int32_t> tool::raggedLengths(int64_t requests, int64_t context,
                                         uint64_t seed) {
  Random random(seed ^ 0x6c656e67746873u); // "lengths"
  std::vector<int32_t> lengths;
  lengths.reserve(static_cast<size_t>(requests));
  for (int64_t request = 0; request < requests; ++request)
    lengths.push_back(
        static_cast<int32_t>(request == 0 || context == 0
                                 ? context
                                 : 1 + static_cast<int64_t>(random.below(
                                           static_cast<uint64_t>(context)))));
  return lengths;
}

namespace {

/// Inputs of the operations of a step that nothing has filled yet.
Status fillSteps(Call &call, Random &random) {
  const Indexer &indexer = *call.indexer;
  // Slots stay within the caches after all sides are counted.
  int64_t sides = 1;
  for (const StepCall &step : indexer.steps)
    if (step.kind == StepCall::Kind::RebaseSlots)
      sides *= step.sides;
  std::vector<bool> filled(call.arguments.size());
  if (indexer.selects()) {
    if (!indexer.merges())
      filled[indexer.sourceOf(indexer.indexTable)] = true;
    if (indexer.remap)
      filled[indexer.sourceOf(indexer.attnTable)] = true;
  }
  auto isOpen = [&](int argument) {
    const bool open =
        !filled[argument] &&
        indexer.entry->arguments[argument].role == runtime::Role::Step;
    filled[argument] = true;
    return open;
  };
  auto fillSlots = [&](int argument, int64_t places) {
    auto slots = call.arguments[argument].as<int32_t, 1>();
    const int64_t count = std::min(slots.extents[0], places);
    const std::vector<int32_t> own = distinct(count, places, random);
    for (int64_t i = 0; i < slots.extents[0]; ++i)
      slots(i) = i >= count || random.below(8) == 0
                     ? -1 - static_cast<int32_t>(random.below(3))
                     : own[i];
  };
  // What is inserted says first how many places there are.
  for (const StepCall &step : indexer.steps) {
    if (step.kind != StepCall::Kind::InsertKeys)
      continue;
    HostTensor &keys = call.arguments[step.operands[0]];
    const HostTensor &cache = call.arguments[step.output()];
    if (isOpen(indexer.sourceOf(step.operands[1])))
      fillSlots(indexer.sourceOf(step.operands[1]),
                cache.extent(0) * step.blockSize / sides);
    filled[step.operands[1]] = true;
    if (!isOpen(step.operands[0]))
      continue;
    const Bell bell(keys.view.dtype);
    if (!bell)
      return Error{"random keys of type " +
                   std::string(runtime::dtypeName(keys.view.dtype)) +
                   " are not made; give them with --input"};
    const int64_t width = runtime::byteWidth(keys.view.dtype);
    const int64_t count = static_cast<int64_t>(keys.bytes.size()) / width;
    bell.fill(keys.bytes.data(), count, random);
    // What conversion finds hard: the ends of the range, ties, tiny numbers.
    constexpr float hard[] = {448.0f,   464.0f,  -480.0f, 0x1p-9f, 0x1p-10f,
                              0x1p-14f, 1.0625f, -0.0f,   30000.0f};
    for (int64_t i = 0; i < count;
         i += 1 + static_cast<int64_t>(random.below(9)))
      if (const uint64_t pick = random.below(std::size(hard) + 1);
          pick < std::size(hard))
        encode(keys.view.dtype, hard[pick], &keys.bytes[i * width]);
      else // every bit set: a NaN in each format
        std::memset(&keys.bytes[i * width], 0xff, width);
  }
  for (const StepCall &step : indexer.steps) {
    const int input = step.operands[0];
    if (step.kind == StepCall::Kind::InsertKeys || !isOpen(input))
      continue;
    if (step.kind == StepCall::Kind::RebaseSlots) {
      fillSlots(input, 1 << 20);
      continue;
    }
    auto table = call.arguments[input].as<int32_t, 2>();
    for (int64_t row = 0; row < table.extents[0]; ++row)
      for (int64_t j = 0; j < table.extents[1]; ++j)
        table(row, j) = static_cast<int32_t>(random.below(1 << 20)) - 16;
  }
  return {};
}

/// Queries, keys and the index table.
Status fillCache(Call &call, const reference::Rows &rows, int64_t used,
                 int64_t pages, Random &random) {
  const Indexer &indexer = *call.indexer;
  HostTensor &query = call.arguments[indexer.query];
  HostTensor &keys = call.arguments[indexer.keys];
  const Bell bell(query.view.dtype), keyBell(keys.view.dtype);
  if (!bell || !keyBell)
    return Error{"random inputs of type " +
                 std::string(runtime::dtypeName(bell ? keys.view.dtype
                                                     : query.view.dtype)) +
                 " are not made; give them with --input"};
  const int64_t width = runtime::byteWidth(keys.view.dtype);
  bell.fill(query.bytes.data(),
            static_cast<int64_t>(query.bytes.size()) /
                runtime::byteWidth(query.view.dtype),
            random);

  const std::vector<int32_t> own = distinct(used, pages, random);
  // A token at a time: there may be gaps between them, of poison.
  for (int32_t page : own)
    for (int64_t token = 0; token < indexer.blockSize; ++token)
      keyBell.fill(&keys.bytes[(page * keys.view.strides[0] +
                                token * keys.view.strides[1]) *
                               width],
                   indexer.headDim, random);
  fillTable(call.arguments[indexer.sourceOf(indexer.indexTable)], rows, own);
  plantPastTheEnd(call, own);
  return {};
}

} // namespace

std::vector<int32_t> tool::raggedNewTokens(const Indexer &indexer,
                                           const std::vector<int32_t> &lengths,
                                           uint64_t seed) {
  Random random(seed ^ 0x6e6577746f6b656eu); // "newtoken"
  const runtime::Entry &entry = *indexer.entry;
  int64_t left = entry.maxRows;
  std::vector<int32_t> counts;
  for (int32_t length : lengths) {
    const int64_t most =
        std::min({int64_t(std::max(length, 0)), entry.maxQueryLen, left});
    int64_t count = 0;
    switch (most == 0 ? 0 : random.below(4)) {
    case 0:
      break;
    case 1:
      count = 1;
      break;
    case 2:
      count = most;
      break;
    default:
      count = 1 + static_cast<int64_t>(random.below(most));
    }
    // The first has rows, so that there is something to see.
    if (counts.empty() && most > 0 && count == 0)
      count = 1 + static_cast<int64_t>(random.below(most));
    left -= count;
    counts.push_back(static_cast<int32_t>(count));
  }
  return counts;
}

Result<Call> tool::randomCall(const Indexer &indexer, const Lengths &given,
                              uint64_t seed) {
  const std::vector<int32_t> &lengths = given.tokens;
  if (Status status = checkLengths(indexer, lengths); !status)
    return status.takeError();
  Result<std::vector<int32_t>> offsets =
      offsetsOf(indexer,
                indexer.ragged() && given.newTokens.empty()
                    ? raggedNewTokens(indexer, lengths, seed)
                    : given.newTokens,
                lengths.size());
  if (!offsets)
    return offsets.takeError();
  Random random(seed);
  const auto requests = static_cast<int64_t>(lengths.size());
  if (!indexer.selects()) { // steps alone
    Result<Call> call = Call::make(indexer, requests, 5 * requests + 3);
    if (!call)
      return call;
    if (Status status = fillSteps(*call, random); !status)
      return status.takeError();
    return call;
  }
  reference::Rows rows{
      reference::View<const int32_t, 1>(lengths.data(), {requests}),
      indexer.queryLen, indexer.blockSize};
  if (indexer.ragged())
    rows.offsets = {offsets->data(), {requests + 1}};
  if (Status status = checkRows(indexer, rows); !status)
    return status.takeError();
  int64_t used = 0;
  for (int64_t request = 0; request < requests; ++request)
    used += rows.blocksSeen(request);

  // A few pages that no table names lie among the others.
  const int64_t pages = used + 3;
  Result<Call> call = Call::make(indexer, requests, pages, rows.rows());
  if (!call)
    return call;
  std::copy(lengths.begin(), lengths.end(),
            call->arguments[indexer.lens].as<int32_t, 1>().data);
  if (indexer.ragged())
    std::copy(offsets->begin(), offsets->end(),
              call->arguments[indexer.cuSeqlens].as<int32_t, 1>().data);
  if (indexer.merges())
    fillRankCandidates(*call, [&] { return random.next(); });
  else if (Status status = fillCache(*call, rows, used, pages, random); !status)
    return status.takeError();
  if (indexer.remap) {
    // The attention's cache is another: more pages, in another order.
    fillTable(call->arguments[indexer.sourceOf(indexer.attnTable)], rows,
              distinct(used, 2 * used + 3, random));
  }
  if (Status status = fillSteps(*call, random); !status)
    return status.takeError();
  return call;
}

/// Copies a dense tensor into one with gaps between its rows.
static void copyRows(const std::byte *from, HostTensor &to, int axis = 0,
                     int64_t offset = 0) {
  const int64_t width = runtime::byteWidth(to.view.dtype);
  int64_t inner = width; // bytes of one index of the axis, without gaps
  for (int i = axis + 1; i < to.view.rank; ++i)
    inner *= to.extent(i);
  if (axis == to.view.rank - 1) {
    std::copy_n(from, to.extent(axis) * width,
                to.bytes.begin() + offset * width);
    return;
  }
  for (int64_t i = 0; i < to.extent(axis); ++i)
    copyRows(from + i * inner, to, axis + 1,
             offset + i * to.view.strides[axis]);
}

Result<Call> tool::callFromFile(const Indexer &indexer,
                                const std::string &path) {
  if (!indexer.steps.empty())
    return Error{path + ": '" + indexer.entry->name +
                 "' rebases or inserts, which is run on random inputs only"};
  Result<std::vector<SafeTensor>> file = readSafetensors(path);
  if (!file)
    return file.takeError();
  const runtime::Entry &entry = *indexer.entry;
  auto problem = [&](const std::string &what) {
    return Error{path + ": " + what};
  };
  auto find = [&](const std::string &name) -> const SafeTensor * {
    for (const SafeTensor &tensor : *file)
      if (tensor.name == name)
        return &tensor;
    return nullptr;
  };

  std::string wanted;
  for (const runtime::TensorArgument &argument : entry.arguments)
    if (argument.access != runtime::Access::Write)
      wanted += (wanted.empty() ? "" : ", ") + argument.name;
  for (const SafeTensor &tensor : *file) {
    const runtime::TensorArgument *argument = entry.argument(tensor.name);
    if (!argument || argument->access == runtime::Access::Write)
      return problem("tensor '" + tensor.name + "' is no input of '" +
                     entry.name + "'; its inputs: " + wanted);
  }
  for (const runtime::TensorArgument &argument : entry.arguments) {
    if (argument.access == runtime::Access::Write)
      continue;
    const SafeTensor *tensor = find(argument.name);
    if (!tensor)
      return problem("no tensor '" + argument.name +
                     "'; the inputs are: " + wanted);
    if (tensor->dtype != argument.dtype)
      return problem("tensor '" + argument.name + "' has dtype " +
                     std::string(runtime::dtypeName(tensor->dtype)) +
                     ", wanted " +
                     std::string(runtime::dtypeName(argument.dtype)));
    if (tensor->shape.size() != argument.shape.size())
      return problem("tensor '" + argument.name + "' has " +
                     std::to_string(tensor->shape.size()) + " axes, wanted " +
                     std::to_string(argument.shape.size()));
  }
  auto tensorOf = [&](int argument) -> const SafeTensor & {
    return *find(entry.arguments[argument].name);
  };
  const SafeTensor &lens = tensorOf(indexer.lens);
  std::vector<int32_t> lengths(static_cast<size_t>(lens.shape[0]));
  if (!lengths.empty())
    std::memcpy(lengths.data(), lens.bytes.data(), lens.bytes.size());
  if (Status status = checkLengths(indexer, lengths); !status)
    return problem(status.message());
  reference::Rows rows{
      reference::View<const int32_t, 1>(lengths.data(), {lens.shape[0]}),
      indexer.queryLen, indexer.blockSize};
  std::vector<int32_t> offsets;
  if (indexer.ragged()) {
    const SafeTensor &source = *find(entry.arguments[indexer.cuSeqlens].name);
    offsets.resize(source.bytes.size() / sizeof(int32_t));
    // Not empty, so that no data never means uniform rows.
    offsets.reserve(1);
    if (!offsets.empty())
      std::memcpy(offsets.data(), source.bytes.data(), source.bytes.size());
    rows.offsets = {offsets.data(), {source.shape[0]}};
  }
  if (Status status = checkRows(indexer, rows); !status)
    return problem(status.message());

  Result<Call> call =
      indexer.merges()
          ? Call::make(indexer, lens.shape[0], 0, rows.rows(),
                       tensorOf(indexer.rankIds).shape[0])
          : Call::make(indexer, lens.shape[0], tensorOf(indexer.keys).shape[0],
                       rows.rows());
  if (!call)
    return problem(call.message());
  const int64_t reach = rows.mostVisibleBlocks();
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    if (entry.arguments[i].access == runtime::Access::Write)
      continue;
    HostTensor &target = call->arguments[i];
    const SafeTensor &source = *find(target.name);
    const bool table = static_cast<int>(i) == indexer.indexTable ||
                       static_cast<int>(i) == indexer.attnTable;
    for (int axis = 0; axis < target.view.rank; ++axis) {
      const bool columns = table && axis == 1;
      if (columns ? source.shape[axis] >= reach
                  : source.shape[axis] == target.extent(axis))
        continue;
      return problem("tensor '" + target.name + "' has " +
                     std::to_string(source.shape[axis]) + " entries in axis " +
                     std::to_string(axis) + ", wanted " +
                     (columns ? "at least " + std::to_string(reach)
                              : std::to_string(target.extent(axis))));
    }
    if (!table) {
      if (target.bytes.size() == source.bytes.size())
        target.bytes = source.bytes;
      else
        copyRows(source.bytes.data(), target);
      continue;
    }
    // Row by row: the buffer is as wide as the bounds ask.
    const int64_t columns = std::min(source.shape[1], target.extent(1));
    for (int64_t row = 0; row < target.extent(0); ++row)
      std::copy_n(source.bytes.begin() + row * source.shape[1] * 4, columns * 4,
                  target.bytes.begin() + row * target.view.strides[0] * 4);
  }
  return call;
}
