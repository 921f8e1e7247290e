// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Starts from the tool's random calls and plants what is rare there.
#include "RandomInputs.h"

#include "Elements.h"
#include "Random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

using namespace winnow;
using namespace winnow::test;

const char *test::nameOf(Values values) {
  constexpr const char *names[] = {
      "bell",      "integers", "plateaus", "all equal",  "clusters", "zeros",
      "denormals", "extremes", "NaNs",     "infinities", "codes"};
  return names[static_cast<size_t>(values)];
}

const char *test::nameOf(Scores scores) {
  constexpr const char *names[] = {"computed",   "specials",  "ties",
                                   "bits",       "last bits", "ascending",
                                   "descending", "all equal"};
  return names[static_cast<size_t>(scores)];
}

std::string Inputs::text() const {
  std::string text =
      fmt::format("lengths [{}]", fmt::join(lengths.tokens, ", "));
  if (!lengths.newTokens.empty())
    text +=
        fmt::format(", new tokens [{}]", fmt::join(lengths.newTokens, ", "));
  text += fmt::format(", keys: {}, queries: {}", nameOf(keys), nameOf(queries));
  if (unmapped)
    text += fmt::format(", {} % of the table entries unmapped", unmapped);
  if (sharedPages)
    text += ", pages shared between requests";
  if (paddingRows)
    text += fmt::format(", {} rows of padding", paddingRows);
  if (scores != Scores::Computed)
    text += fmt::format(", scores given: {}", nameOf(scores));
  return text + fmt::format(", input seed {}", seed);
}

namespace {

/// Makes some entries within the reach of requests negative.
void unmap(tool::HostTensor &tensor, const reference::Rows &rows,
           int64_t percent, Random &random) {
  auto table = tensor.as<int32_t, 2>();
  for (int64_t request = 0; request < rows.requests(); ++request)
    for (int64_t block = 0; block < rows.blocksSeen(request); ++block)
      if (random.chance(percent))
        table(request, block) = static_cast<int32_t>(
            random.chance(20) ? -2147483647 : random.between(-9, -1));
}

/// Lets a request begin with blocks of the one before it, as requests with the
/// same prompt do.
void sharePages(tool::HostTensor &tensor, const reference::Rows &rows,
                Random &random) {
  auto table = tensor.as<int32_t, 2>();
  for (int64_t request = 1; request < rows.requests(); ++request) {
    const int64_t most =
        std::min(rows.blocksSeen(request), rows.blocksSeen(request - 1));
    for (int64_t block = 0, end = random.between(0, most); block < end; ++block)
      table(request, block) = table(request - 1, block);
  }
}

/// Fills queries and keys with other values than a bell's.
class Filler {
public:
  Filler(tool::Call &call, const Inputs &inputs, Random &random)
      : call(call), indexer(*call.indexer), random(random), inputs(inputs),
        rows(call.rows()), query(call.arguments[indexer.query]),
        keys(call.arguments[indexer.keys]) {}

  void run() {
    if (inputs.queries != Values::Bell)
      fillQueries();
    if (inputs.keys != Values::Bell)
      fillKeys();
    if (inputs.queries != Values::Bell || inputs.keys != Values::Bell)
      plantPastTheEnd();
  }

private:
  /// How large a product of two elements may be for sums of them to stay
  /// within fp32: past that the order of additions decides what comes out.
  int largestExponent() const {
    int64_t terms = indexer.headDim;
    if (indexer.score.reduction != reference::Reduction::Max)
      terms *= indexer.blockSize;
    return (126 - std::bit_width(static_cast<uint64_t>(terms))) / 2;
  }

  void fillQueries() {
    Elements elements(query.view.dtype, indexer.headDim, largestExponent());
    elements.choose(inputs.queries, random);
    for (int64_t row = 0; row < query.extent(0); ++row)
      for (int64_t head = 0; head < query.extent(1); ++head)
        elements.vector(at(query, row, head), random);
  }

  void fillKeys() {
    Elements elements(keys.view.dtype, indexer.headDim, largestExponent());
    elements.choose(inputs.keys, random);
    auto table = source();
    for (int64_t request = 0; request < rows.requests(); ++request)
      for (int64_t block = 0; block < rows.blocksSeen(request); ++block) {
        elements.nextBlock(random);
        const int64_t tokens =
            std::min(indexer.blockSize,
                     rows.tokensSeen(request) - block * indexer.blockSize);
        for (int64_t token = 0; token < tokens; ++token)
          elements.vector(at(keys, table(request, block), token), random);
      }
  }

  /// Tokens past the end of each context agree in sign with a query and are
  /// large: where they are not masked, they win.
  void plantPastTheEnd() {
    Elements elements(keys.view.dtype, indexer.headDim, largestExponent());
    const reference::NumberView queries = std::as_const(query).asNumbers();
    auto table = source();
    for (int64_t request = 0; request < rows.requests(); ++request) {
      const int64_t blocks = rows.blocksSeen(request);
      if (blocks == 0)
        continue;
      const int64_t row = rows.firstRow(request + 1) - 1;
      for (int64_t token =
               rows.tokensSeen(request) - (blocks - 1) * indexer.blockSize;
           token < indexer.blockSize; ++token)
        for (int64_t d = 0; d < indexer.headDim; ++d)
          elements.put(at(keys, table(request, blocks - 1), token), d,
                       std::signbit(queries(row, 0, d)) ? -448.0f : 448.0f);
    }
  }

  reference::View<int32_t, 2> source() {
    return call.arguments[indexer.sourceOf(indexer.indexTable)]
        .as<int32_t, 2>();
  }
  static std::byte *at(tool::HostTensor &tensor, int64_t i, int64_t j) {
    return &tensor.bytes[(i * tensor.view.strides[0] +
                          j * tensor.view.strides[1]) *
                         runtime::byteWidth(tensor.view.dtype)];
  }

  tool::Call &call;
  const tool::Indexer &indexer;
  Random &random;
  const Inputs &inputs;
  const reference::Rows rows;
  tool::HostTensor &query, &keys;
};

float bits(uint64_t code) {
  return std::bit_cast<float>(static_cast<uint32_t>(code));
}

/// Scores of a kind; not Computed.
class ScoreMaker {
public:
  ScoreMaker(Scores kind, Random &random)
      : kind(kind), one(random.pick({0.0f, -0.0f, -3.5f, bits(0x7f800000),
                                     bits(0xff800000), bits(0x7fc00000)})) {}

  float operator()(int64_t block, Random &random) const {
    switch (kind) {
    case Scores::Computed:
      break;
    case Scores::Specials:
      return random.pick({0.0f, -0.0f, 1.0f, -1.0f, 1e29f, 1e30f,
                          bits(0x7f800000), bits(0xff800000), bits(0x7fc00000),
                          bits(0xffc00000), bits(0x7f800001), bits(0xffffffff),
                          bits(1), bits(0x80000001),
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::lowest()});
    case Scores::Ties:
      return static_cast<float>(random.between(-1, 1));
    case Scores::Bits:
      return bits(random.next());
    case Scores::LastBits:
      return bits(0x41200000 + random.next() % 200);
    case Scores::Ascending:
      return static_cast<float>(block);
    case Scores::Descending:
      return -static_cast<float>(block);
    case Scores::AllEqual:
      break;
    }
    return one;
  }

private:
  Scores kind;
  float one;
};

/// Makes candidates of ranks rare: scores of the kind, and, where blocks may be
/// unmapped, numbers that are none or lie past every reach.
void plantCandidates(tool::Call &call, const Inputs &inputs, Random &random) {
  auto ids = call.arguments[call.indexer->rankIds].as<int32_t, 4>();
  auto best = call.arguments[call.indexer->rankScores].as<float, 4>();
  const ScoreMaker maker(inputs.scores, random);
  const auto past = static_cast<int32_t>(call.indexer->maxBlocks);
  for (int64_t rank = 0; rank < ids.extents[0]; ++rank)
    for (int64_t head = 0; head < ids.extents[1]; ++head)
      for (int64_t row = 0; row < ids.extents[2]; ++row)
        for (int64_t place = 0; place < ids.extents[3]; ++place) {
          if (inputs.scores != Scores::Computed)
            best(rank, head, row, place) =
                maker(ids(rank, head, row, place), random);
          if (random.chance(inputs.unmapped))
            ids(rank, head, row, place) =
                random.pick({-1, INT32_MIN, past, INT32_MAX});
        }
}

} // namespace

Result<tool::Call> test::makeCall(const tool::Indexer &indexer,
                                  const Inputs &inputs) {
  tool::Lengths cut = inputs.lengths;
  const int64_t most = indexer.entry->maxSeqLen;
  for (int32_t &length : cut.tokens)
    length = static_cast<int32_t>(std::min<int64_t>(length, most));
  if (inputs.paddingRows && indexer.ragged()) {
    cut.tokens.push_back(0);
    cut.newTokens.push_back(static_cast<int32_t>(inputs.paddingRows));
  }
  Result<tool::Call> call = tool::randomCall(indexer, cut, inputs.seed);
  if (!call || !indexer.selects())
    return call;
  // A length past the bound reaches to the end of the last block.
  const int64_t end =
      std::min<int64_t>(indexer.maxBlocks * indexer.blockSize, INT32_MAX);
  for (size_t i = 0; i < inputs.lengths.tokens.size(); ++i)
    call->arguments[indexer.lens].as<int32_t, 1>()(i) =
        static_cast<int32_t>(std::min<int64_t>(inputs.lengths.tokens[i], end));
  Random random(inputs.seed ^ 0x696e70757473u); // "inputs"
  const reference::Rows rows = call->rows();
  if (indexer.merges()) {
    plantCandidates(*call, inputs, random);
  } else {
    // Values first: what is unmapped has none.
    Filler(*call, inputs, random).run();
    tool::HostTensor &index =
        call->arguments[indexer.sourceOf(indexer.indexTable)];
    if (inputs.sharedPages)
      sharePages(index, rows, random);
    unmap(index, rows, inputs.unmapped, random);
  }
  if (indexer.remap)
    unmap(call->arguments[indexer.sourceOf(indexer.attnTable)], rows,
          inputs.unmapped, random);
  return call;
}

tool::Call test::deviceCall(const tool::Call &call, const Inputs &inputs) {
  tool::Call device = call;
  const tool::Indexer &indexer = *call.indexer;
  if (!indexer.selects())
    return device;
  const std::vector<int32_t> &lengths = inputs.lengths.tokens;
  std::copy(lengths.begin(), lengths.end(),
            device.arguments[indexer.lens].as<int32_t, 1>().data);
  if (!inputs.paddingRows || !indexer.ragged())
    return device;
  auto cut = [&](int argument, size_t entries) {
    tool::HostTensor &tensor = device.arguments[argument];
    tensor.view.extents[0] = static_cast<int64_t>(entries);
    tensor.bytes.resize(entries * sizeof(int32_t));
  };
  cut(indexer.lens, lengths.size());
  cut(indexer.cuSeqlens, lengths.size() + 1);
  return device;
}

void test::fillScores(tool::Call &call, const Inputs &inputs) {
  Random random(inputs.seed ^ 0x73636f726573u); // "scores"
  const ScoreMaker maker(inputs.scores, random);
  const reference::Rows rows = call.rows();
  auto scores = call.workspace[call.indexer->scores].as<float, 3>();
  for (int64_t head = 0; head < call.indexer->heads; ++head)
    for (int64_t row = 0; row < rows.rows(); ++row)
      for (int64_t block = 0; block < rows.localBlocks(row); ++block)
        scores(head, row, block) = maker(block, random);
}
