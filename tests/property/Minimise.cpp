// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Minimise.h"

#include "RandomCase.h"

#include <algorithm>
#include <utility>
#include <vector>

using namespace winnow;
using namespace winnow::test;

namespace {

/// Makes a run simpler in one way; false where it is as simple already.
using Step = std::function<bool(Trial &)>;

template <typename T> bool become(T &value, const T &simpler) {
  if (value == simpler)
    return false;
  value = simpler;
  return true;
}

/// Towards `least`, and no further: at once, by half, by one.
void addSmaller(std::vector<Step> &steps, int64_t Shape::*field,
                int64_t least) {
  auto add = [&](auto smaller) {
    steps.push_back([=](Trial &trial) {
      int64_t &value = trial.shape.*field;
      return value > least && become(value, std::max(least, smaller(value)));
    });
  };
  add([=](int64_t) { return least; });
  add([](int64_t value) { return value / 2; });
  add([](int64_t value) { return value - 1; });
}

void addInputs(std::vector<Step> &steps, size_t requests) {
  // Requests first, the most of them at once.
  for (size_t count = std::max<size_t>(requests / 2, 1); count > 0; count /= 2)
    for (size_t first = 0; first + count <= requests; first += count)
      steps.push_back([=](Trial &trial) {
        tool::Lengths &lengths = trial.inputs.lengths;
        if (lengths.tokens.size() < first + count ||
            lengths.tokens.size() == count)
          return false;
        auto drop = [&](std::vector<int32_t> &of) {
          if (!of.empty())
            of.erase(of.begin() + first, of.begin() + first + count);
        };
        drop(lengths.tokens);
        drop(lengths.newTokens);
        return true;
      });
  steps.push_back(
      [](Trial &trial) { return become(trial.inputs.keys, Values::Bell); });
  steps.push_back(
      [](Trial &trial) { return become(trial.inputs.queries, Values::Bell); });
  steps.push_back([](Trial &trial) {
    return become(trial.inputs.scores, Scores::Computed);
  });
  steps.push_back(
      [](Trial &trial) { return become(trial.inputs.unmapped, int64_t(0)); });
  steps.push_back(
      [](Trial &trial) { return become(trial.inputs.sharedPages, false); });
  steps.push_back([](Trial &trial) {
    return become(trial.inputs.paddingRows, trial.inputs.paddingRows / 2);
  });
  steps.push_back(
      [](Trial &trial) { return become(trial.inputs.seed, uint64_t(1)); });
  for (size_t request = 0; request < requests; ++request) {
    auto add = [&](std::vector<int32_t> tool::Lengths::*of, auto smaller) {
      steps.push_back([=](Trial &trial) {
        std::vector<int32_t> &list = trial.inputs.lengths.*of;
        return request < list.size() &&
               become(list[request], smaller(trial.shape, list[request]));
      });
    };
    auto tokens = &tool::Lengths::tokens;
    auto rows = &tool::Lengths::newTokens;
    auto none = [](const Shape &, int32_t) { return 0; };
    auto half = [](const Shape &, int32_t value) { return value / 2; };
    auto less = [](const Shape &, int32_t value) {
      return value - (value > 0);
    };
    add(tokens, none);
    add(rows, none);
    add(tokens, half);
    add(rows, half);
    // To the end of the block before, then by a block, then by a token.
    add(tokens, [](const Shape &shape, int32_t value) {
      return value > 0 ? static_cast<int32_t>((value - 1) / shape.blockSize *
                                              shape.blockSize)
                       : 0;
    });
    add(tokens, [](const Shape &shape, int32_t value) {
      return value > shape.blockSize
                 ? value - static_cast<int32_t>(shape.blockSize)
                 : value;
    });
    add(tokens, less);
    add(rows, less);
  }
}

void addOptions(std::vector<Step> &steps) {
  auto toUsual = [&](auto field) {
    steps.push_back([=](Trial &trial) {
      return become(trial.shape.*field, Shape().*field);
    });
  };
  toUsual(&Shape::schedule);
  // Whole operations, then options.
  for (auto field : {&Shape::rebaseTable, &Shape::rebaseSlots})
    toUsual(field);
  toUsual(&Shape::newKeys);
  steps.push_back([](Trial &trial) {
    if (trial.shape.remaps && trial.shape.stores)
      return become(trial.shape.remaps, false);
    return false;
  });
  steps.push_back([](Trial &trial) {
    if (trial.shape.remaps && trial.shape.stores)
      return become(trial.shape.stores, false);
    return false;
  });
  steps.push_back([](Trial &trial) {
    Shape &shape = trial.shape;
    return shape.stores && !shape.merges && become(shape.exchanges, false);
  });
  steps.push_back([](Trial &trial) {
    Shape &shape = trial.shape;
    if (!shape.exchanges || (!shape.stores && !shape.remaps))
      return false;
    shape.stores = shape.remaps = false;
    return true;
  });
  for (auto field : {&Shape::strided, &Shape::tieLowest, &Shape::ascending,
                     &Shape::tokenMajor, &Shape::dense, &Shape::attention,
                     &Shape::inPlace, &Shape::exchanges})
    toUsual(field);
  for (auto field :
       {&Shape::contract, &Shape::dtype, &Shape::reduce, &Shape::scoreLowering,
        &Shape::selectLowering, &Shape::prefer})
    toUsual(field);
  for (auto field :
       {&Shape::launches, &Shape::maxPages, &Shape::tableSides,
        &Shape::selectionPad, &Shape::pagePad, &Shape::maxRequests})
    toUsual(field);
  // Ragged rows to uniform ones.
  steps.push_back([](Trial &trial) {
    if (!trial.shape.ragged())
      return false;
    trial.shape.queryLen = 1;
    trial.inputs.lengths.newTokens.clear();
    return true;
  });
  auto smaller = [&](int64_t Shape::*field, int64_t least) {
    addSmaller(steps, field, least);
  };
  smaller(&Shape::rankKeep, 0);
  steps.push_back([](Trial &trial) {
    return trial.shape.merges != 0 && become(trial.shape.merges, int64_t(1));
  });
  steps.push_back([](Trial &trial) {
    if (trial.shape.merges < 2)
      return false;
    --trial.shape.merges;
    return true;
  });
  smaller(&Shape::world, 1);
  smaller(&Shape::rank, 0);
  smaller(&Shape::initBlocks, 0);
  smaller(&Shape::localBlocks, 0);
  smaller(&Shape::kvHeads, 1);
  smaller(&Shape::heads, 1);
  steps.push_back([](Trial &trial) {
    return trial.shape.queryLen > 1 && become(trial.shape.queryLen, int64_t(1));
  });
  steps.push_back([](Trial &trial) {
    if (trial.shape.queryLen <= 1)
      return false;
    --trial.shape.queryLen;
    return true;
  });
  smaller(&Shape::pagesPerBlock, 1);
  smaller(&Shape::keep, 1);
  for (int64_t blockSize : {1, 16, 32, 64, 128})
    steps.push_back([=](Trial &trial) {
      return trial.shape.blockSize > blockSize &&
             become(trial.shape.blockSize, blockSize);
    });
  for (int64_t headDim : {8, 16, 64, 128})
    steps.push_back([=](Trial &trial) {
      return trial.shape.headDim > headDim &&
             become(trial.shape.headDim, headDim);
    });
  // The bound follows the lengths, where they are within it.
  steps.push_back([](Trial &trial) {
    int64_t most = 1;
    for (int32_t length : trial.inputs.lengths.tokens)
      most = std::max<int64_t>(most, length);
    return most < trial.shape.maxSeqLen && become(trial.shape.maxSeqLen, most);
  });
  smaller(&Shape::maxSeqLen, 1);
}

/// Tells trials apart.
std::string keyOf(const Trial &trial) {
  return trial.shape.prefer + trial.shape.describe() + trial.inputs.text();
}

} // namespace

Minimised test::minimise(const Trial &trial, const Fails &fails, int attempts) {
  Minimised result{trial, 0, false};
  // Inputs cost a simulation, shapes a compilation as well; both again once the
  // others have become simpler.
  for (bool progress = true; progress;) {
    progress = false;
    for (bool ofInputs : {true, false}) {
      std::vector<Step> steps;
      if (ofInputs)
        addInputs(steps, result.trial.inputs.lengths.tokens.size());
      else
        addOptions(steps);
      for (const Step &step : steps)
        // A step is taken as often as it helps.
        for (;;) {
          Trial simpler = result.trial;
          if (!step(simpler))
            break;
          mend(simpler.shape);
          // What was mended may be as it was.
          if (keyOf(simpler) == keyOf(result.trial))
            break;
          if (result.attempts == attempts)
            return result;
          ++result.attempts;
          if (!fails(simpler))
            break;
          result.trial = std::move(simpler);
          progress = true;
        }
    }
  }
  result.finished = true;
  return result;
}
