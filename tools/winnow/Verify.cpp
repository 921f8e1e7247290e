// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify.h"

#include <algorithm>
#include <bit>

using namespace winnow;
using namespace winnow::tool;
using reference::Comparison;

namespace {

/// Which bytes of a tensor the operations write.
class Written {
public:
  explicit Written(const HostTensor &tensor)
      : width(runtime::byteWidth(tensor.view.dtype)),
        bytes(tensor.bytes.size()) {}

  void element(int64_t offset) {
    std::fill_n(bytes.begin() + offset * width, width, true);
  }
  /// Every element of a view.
  template <typename T, int Rank>
  void all(const reference::View<const T, Rank> &view, int axis = 0,
           int64_t offset = 0) {
    if (axis == Rank)
      return element(offset);
    for (int64_t i = 0; i < view.extents[axis]; ++i)
      all(view, axis + 1, offset + i * view.strides[axis]);
  }
  bool operator()(int64_t byte) const { return bytes[byte]; }

private:
  int64_t width;
  std::vector<bool> bytes;
};

class Verifier {
public:
  Verifier(const Call &before, const Call &after)
      : before(before), after(after), indexer(*after.indexer),
        rows(after.rows()) {}

  Result<Verdict> run() {
    Verdict verdict;
    // From the inputs as they were: a kernel may have ruined its own.
    Call stepped = before;
    if (Status status = runStepsOnHost(stepped); !status)
      return Error{"the reference refuses the inputs: " + status.message()};
    if (!indexer.steps.empty())
      verdict.steps = steps(stepped);
    if (!indexer.selects()) {
      inputs(verdict.untouched);
      return verdict;
    }
    if (indexer.merges())
      return merge(std::move(verdict));
    const std::vector<HostTensor> &arguments = stepped.arguments;
    if (reference::Problem problem = reference::blockScore(
            before.rows(), arguments[indexer.query].asNumbers(),
            arguments[indexer.keys].asNumbers(),
            arguments[indexer.indexTable].as<int32_t, 2>(), indexer.score,
            exact))
      return Error{"the reference refuses the inputs: " + *problem};
    inputs(verdict.untouched);
    if (!verdict.untouched.ok())
      return verdict; // nothing after this would mean anything
    if (indexer.scores >= 0)
      verdict.scores = compareScores(rows, exact, deviceScores());
    if (indexer.selection >= 0)
      verdict.selection = selection();
    if (indexer.candidateIds >= 0)
      if (Status status = candidates(verdict); !status)
        return status.takeError();
    if (indexer.remap)
      if (Status status = pages(verdict); !status)
        return status.takeError();
    outside(verdict.untouched);
    return verdict;
  }

private:
  reference::View<const float, 3> deviceScores() const {
    return after.workspace[indexer.scores].as<float, 3>();
  }
  reference::View<const int32_t, 3>
  asSelection(const std::vector<int32_t> &storage) const {
    return {storage.data(), {indexer.heads, rows.rows(), indexer.keep}};
  }

  Comparison steps(const Call &stepped) const {
    Comparison comparison;
    std::vector<bool> seen(after.arguments.size());
    for (const StepCall &step : indexer.steps) {
      if (seen[step.output()])
        continue;
      seen[step.output()] = true;
      const HostTensor &got = after.arguments[step.output()];
      const HostTensor &wanted = stepped.arguments[step.output()];
      const int64_t width = runtime::byteWidth(got.view.dtype);
      for (size_t i = 0; i < got.bytes.size(); i += width) {
        ++comparison.checked;
        if (!std::equal(&got.bytes[i], &got.bytes[i] + width, &wanted.bytes[i]))
          comparison.add({got.name + " element " + std::to_string(i / width),
                          hex(&got.bytes[i], width),
                          hex(&wanted.bytes[i], width)});
      }
    }
    return comparison;
  }

  static std::string hex(const std::byte *bytes, int64_t width) {
    std::string text = "0x";
    for (int64_t i = width; i-- > 0;)
      for (int shift : {4, 0})
        text +=
            "0123456789abcdef"[std::to_integer<int>(bytes[i]) >> shift & 15];
    return text;
  }

  void inputs(Comparison &untouched) const {
    for (size_t i = 0; i < after.arguments.size(); ++i) {
      if (indexer.entry->arguments[i].access != runtime::Access::Read)
        continue;
      const std::vector<std::byte> &old = before.arguments[i].bytes;
      const std::vector<std::byte> &now = after.arguments[i].bytes;
      untouched.checked += static_cast<int64_t>(now.size());
      auto [where, other] = std::mismatch(now.begin(), now.end(), old.begin());
      if (where != now.end())
        untouched.add(
            {"input '" + after.arguments[i].name + "' byte " +
                 std::to_string(where - now.begin()),
             std::to_string(std::to_integer<int>(*where)),
             std::to_string(std::to_integer<int>(*other)) + " as before"});
    }
  }

  /// An entry that merges: everything follows from its inputs, bit for bit.
  Result<Verdict> merge(Verdict verdict) const {
    std::vector<int32_t> merged(indexer.heads * rows.rows() * indexer.keep);
    if (reference::Problem problem = reference::mergeCandidates(
            rows, before.arguments[indexer.rankIds].as<int32_t, 4>(),
            before.arguments[indexer.rankScores].as<float, 4>(), indexer.topk,
            {merged.data(), {indexer.heads, rows.rows(), indexer.keep}}))
      return Error{"the reference refuses the inputs: " + *problem};
    inputs(verdict.untouched);
    if (!verdict.untouched.ok())
      return verdict;
    if (indexer.selection >= 0) {
      std::vector<int32_t> wanted = merged;
      std::replace(wanted.begin(), wanted.end(), -1, indexer.selectionPad);
      verdict.selection.emplace();
      sameIds("selection", after.selection(), asSelection(wanted),
              *verdict.selection);
    }
    if (indexer.remap)
      verdict.pages = pagesOf(merged);
    outside(verdict.untouched);
    return verdict;
  }

  static void sameIds(const char *name,
                      const reference::View<const int32_t, 3> &got,
                      const reference::View<const int32_t, 3> &wanted,
                      Comparison &comparison) {
    each(wanted, [&](const std::string &place, auto... at) {
      ++comparison.checked;
      if (got(at...) != wanted(at...))
        comparison.add({name + place, std::to_string(got(at...)),
                        std::to_string(wanted(at...))});
    });
  }

  /// Calls f("[h, n, k]", h, n, k) for every place.
  template <typename Function>
  static void each(const reference::View<const int32_t, 3> &view, Function f) {
    for (int64_t h = 0; h < view.extents[0]; ++h)
      for (int64_t n = 0; n < view.extents[1]; ++n)
        for (int64_t k = 0; k < view.extents[2]; ++k)
          f("[" + std::to_string(h) + ", " + std::to_string(n) + ", " +
                std::to_string(k) + "]",
            h, n, k);
  }

  /// What a rank handed on against topk of the scores that it saw: the
  /// device's, or the exact ones where the reference ran.
  Status candidates(Verdict &verdict) const {
    const std::vector<float> rounded(exact.values.begin(), exact.values.end());
    const reference::View<const float, 3> scores =
        indexer.scores >= 0
            ? deviceScores()
            : reference::View<const float, 3>(
                  rounded.data(), {exact.heads, exact.rows, exact.blocks});
    const auto ids = after.arguments[indexer.candidateIds].as<int32_t, 3>();
    const auto best = after.arguments[indexer.candidateScores].as<float, 3>();
    const size_t count = indexer.heads * rows.rows() * indexer.keep;
    const std::array<int64_t, 3> shape{indexer.heads, rows.rows(),
                                       indexer.keep};
    std::vector<int32_t> kept(count), wantedIds(count);
    std::vector<float> wantedBest(count);
    reference::Problem problem =
        reference::topk(rows, scores, indexer.topk, {kept.data(), shape});
    if (!problem)
      problem = reference::storeCandidates(rows, scores, asSelection(kept),
                                           {wantedIds.data(), shape},
                                           {wantedBest.data(), shape});
    if (problem)
      return Error{"the reference refuses the scores: " + *problem};
    Comparison &comparison = verdict.candidates.emplace();
    sameIds("candidate_ids", ids, asSelection(wantedIds), comparison);
    const reference::View<const float, 3> wanted(wantedBest.data(), shape);
    each(ids, [&](const std::string &place, auto... at) {
      ++comparison.checked;
      if (std::bit_cast<uint32_t>(best(at...)) !=
          std::bit_cast<uint32_t>(wanted(at...)))
        comparison.add({"candidate_scores" + place, std::to_string(best(at...)),
                        std::to_string(wanted(at...)) + ", bit for bit"});
    });
    comparison.add(compareSelection(rows, exact, indexer.topk, ids, &scores));
    return {};
  }

  Comparison selection() const {
    const std::vector<int32_t> stored = plainSelection(after);
    if (indexer.scores < 0)
      return compareSelection(rows, exact, indexer.topk, asSelection(stored),
                              nullptr);
    const reference::View<const float, 3> scores = deviceScores();
    Comparison comparison =
        compareTopK(rows, scores, indexer.topk, asSelection(stored));
    comparison.add(compareSelection(rows, exact, indexer.topk,
                                    asSelection(stored), &scores));
    return comparison;
  }

  Status pages(Verdict &verdict) const {
    // Without a stored selection, the one that the device's scores give.
    std::vector<int32_t> selection;
    if (indexer.selection >= 0) {
      selection = plainSelection(after);
    } else if (indexer.scores >= 0) {
      selection.resize(indexer.heads * rows.rows() * indexer.keep);
      if (reference::Problem problem = reference::topk(
              rows, deviceScores(), indexer.topk,
              {selection.data(), {indexer.heads, rows.rows(), indexer.keep}}))
        return Error{"the reference refuses the scores: " + *problem};
    } else {
      return Error{"entry '" + indexer.entry->name +
                   "' shows neither scores nor a selection, so its page table "
                   "cannot be checked"};
    }
    verdict.pages = pagesOf(selection);
    return {};
  }

  Comparison pagesOf(const std::vector<int32_t> &selection) const {
    auto pages = after.arguments[indexer.pages].as<int32_t, 2>();
    auto contexts = after.arguments[indexer.contexts].as<int32_t, 1>();
    pages.extents = pageExtents();
    contexts.extents = {pages.extents[0]};
    return comparePages(rows, asSelection(selection),
                        after.arguments[indexer.attnTable].as<int32_t, 2>(),
                        *indexer.remap, pages, contexts);
  }

  std::array<int64_t, 2> pageExtents() const {
    return {rows.rows() * indexer.remap->kvHeads,
            indexer.keep * indexer.remap->pagesPerBlock};
  }

  void outside(const HostTensor &tensor, const Written &written,
               Comparison &untouched) const {
    untouched.add(reference::compareUntouched(
        tensor.name, tensor.bytes.data(),
        static_cast<int64_t>(tensor.bytes.size()),
        std::to_integer<uint8_t>(kPoison),
        [&](int64_t byte) { return written(byte); }));
  }

  void outside(Comparison &untouched) const {
    if (indexer.scores >= 0) {
      const HostTensor &tensor = after.workspace[indexer.scores];
      Written written(tensor);
      for (int64_t head = 0; head < exact.heads; ++head)
        for (int64_t row = 0; row < exact.rows; ++row)
          for (int64_t block = 0; block < rows.localBlocks(row); ++block)
            written.element(head * tensor.view.strides[0] +
                            row * tensor.view.strides[1] +
                            block * tensor.view.strides[2]);
      outside(tensor, written, untouched);
    }
    for (int index : {indexer.selection, indexer.candidateIds})
      if (index >= 0) {
        const HostTensor &tensor = after.arguments[index];
        Written written(tensor);
        written.all(tensor.as<int32_t, 3>());
        outside(tensor, written, untouched);
      }
    if (indexer.candidateScores >= 0) {
      const HostTensor &tensor = after.arguments[indexer.candidateScores];
      Written written(tensor);
      written.all(tensor.as<float, 3>());
      outside(tensor, written, untouched);
    }
    if (!indexer.remap)
      return;
    const HostTensor &pages = after.arguments[indexer.pages];
    auto table = pages.as<int32_t, 2>();
    table.extents = pageExtents();
    Written writtenPages(pages);
    writtenPages.all(table);
    outside(pages, writtenPages, untouched);
    const HostTensor &contexts = after.arguments[indexer.contexts];
    auto list = contexts.as<int32_t, 1>();
    list.extents = {table.extents[0]};
    Written writtenContexts(contexts);
    writtenContexts.all(list);
    outside(contexts, writtenContexts, untouched);
  }

  const Call &before;
  const Call &after;
  const Indexer &indexer;
  const reference::Rows rows;
  reference::ExactScores exact;
};

} // namespace

bool Verdict::ok() const {
  return (!scores || scores->ok()) && (!selection || selection->ok()) &&
         (!candidates || candidates->ok()) && (!pages || pages->ok()) &&
         (!steps || steps->ok()) && untouched.ok();
}

Result<Verdict> tool::verify(const Call &before, const Call &after) {
  return Verifier(before, after).run();
}

/// How many blocks a row is selected from.
static int64_t selectedFrom(const Call &call, const reference::Rows &rows,
                            int64_t head, int64_t row) {
  const Indexer &indexer = *call.indexer;
  if (!indexer.merges())
    return rows.localBlocks(row);
  const auto ids = call.arguments[indexer.rankIds].as<int32_t, 4>();
  int64_t count = 0;
  for (int64_t rank = 0; rank < ids.extents[0]; ++rank)
    for (int64_t slot = 0; slot < indexer.rankKeep; ++slot)
      count += ids(rank, head, row, slot) >= 0 &&
               ids(rank, head, row, slot) < rows.visibleBlocks(row);
  return count;
}

std::vector<int32_t> tool::plainSelection(const Call &call) {
  const Indexer &indexer = *call.indexer;
  const reference::Rows rows = call.rows();
  const reference::View<const int32_t, 3> stored = call.selection();
  std::vector<int32_t> plain;
  for (int64_t head = 0; head < indexer.heads; ++head)
    for (int64_t row = 0; row < rows.rows(); ++row) {
      const int64_t count = selectedFrom(call, rows, head, row);
      for (int64_t slot = 0; slot < indexer.keep; ++slot) {
        const int32_t block = stored(head, row, slot);
        // Past the candidates the pad means "none"; another value there stays
        // and is reported.
        const bool past = slot >= count;
        plain.push_back(past && block == indexer.selectionPad ? -1 : block);
      }
    }
  return plain;
}
