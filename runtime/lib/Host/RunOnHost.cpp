// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call computed by the reference.
#include "winnow/Host/RunOnHost.h"

using namespace winnow;
using namespace winnow::host;

Status host::runStepsOnHost(Call &call) {
  for (const StepCall &step : call.indexer->steps) {
    HostTensor &first = call.arguments[step.operands[0]];
    HostTensor &last = call.arguments[step.output()];
    reference::Problem problem;
    switch (step.kind) {
    case StepCall::Kind::RebaseTable:
      problem = reference::rebaseTable(std::as_const(first).as<int32_t, 2>(),
                                       step.sides, last.as<int32_t, 2>());
      break;
    case StepCall::Kind::RebaseSlots:
      problem = reference::rebaseSlots(std::as_const(first).as<int32_t, 1>(),
                                       step.blockSize, step.sides,
                                       last.as<int32_t, 1>());
      break;
    case StepCall::Kind::InsertKeys: {
      const reference::NumberView keys = first.asNumbers();
      const reference::NumberView cache = last.asNumbers();
      problem = reference::insertKeys(
          // [tokens, D] as one page of tokens.
          {keys.data,
           keys.format,
           {1, keys.extents[0], keys.extents[1]},
           {0, keys.strides[0], keys.strides[1]}},
          std::as_const(call.arguments[step.operands[1]]).as<int32_t, 1>(),
          {last.bytes.data(), cache.format, cache.extents, cache.strides});
      break;
    }
    }
    if (problem)
      return Error{"'" + last.name + "': " + *problem};
  }
  return {};
}

/// block_score, topk and store_candidates.
static Status scoreAndSelect(Call &call,
                             const reference::View<int32_t, 3> &selection) {
  const Indexer &indexer = *call.indexer;
  const reference::Rows rows = call.rows();
  reference::ExactScores exact;
  if (reference::Problem problem = reference::blockScore(
          rows, call.arguments[indexer.query].asNumbers(),
          call.arguments[indexer.keys].asNumbers(),
          std::as_const(call.arguments[indexer.indexTable]).as<int32_t, 2>(),
          indexer.score, exact))
    return Error{"block_score: " + *problem};

  // The selection follows from scores in f32, as on a device.
  std::vector<float> rounded(exact.values.begin(), exact.values.end());
  const reference::View<const float, 3> scores(
      rounded.data(), {exact.heads, exact.rows, exact.blocks});
  if (indexer.scores >= 0) {
    auto stored = call.workspace[indexer.scores].as<float, 3>();
    for (int64_t head = 0; head < exact.heads; ++head)
      for (int64_t row = 0; row < exact.rows; ++row)
        for (int64_t block = 0; block < rows.localBlocks(row); ++block)
          stored(head, row, block) = scores(head, row, block);
  }
  if (reference::Problem problem =
          reference::topk(rows, scores, indexer.topk, selection))
    return Error{"topk: " + *problem};
  if (indexer.candidateIds < 0)
    return {};
  if (reference::Problem problem = reference::storeCandidates(
          rows, scores, selection,
          call.arguments[indexer.candidateIds].as<int32_t, 3>(),
          call.arguments[indexer.candidateScores].as<float, 3>()))
    return Error{"store_candidates: " + *problem};
  return {};
}

Status host::runOnHost(Call &call) {
  const Indexer &indexer = *call.indexer;
  if (Status status = runStepsOnHost(call); !status)
    return status;
  if (!indexer.selects())
    return {};
  const reference::Rows rows = call.rows();
  std::vector<int32_t> kept(indexer.heads * rows.rows() * indexer.keep);
  const reference::View<int32_t, 3> selection(
      kept.data(), {indexer.heads, rows.rows(), indexer.keep});
  if (indexer.merges()) {
    if (reference::Problem problem = reference::mergeCandidates(
            rows,
            std::as_const(call.arguments[indexer.rankIds]).as<int32_t, 4>(),
            std::as_const(call.arguments[indexer.rankScores]).as<float, 4>(),
            indexer.topk, selection))
      return Error{"merge_candidates: " + *problem};
  } else if (Status status = scoreAndSelect(call, selection); !status) {
    return status;
  }
  if (indexer.selection >= 0)
    if (reference::Problem problem = reference::storeSelection(
            selection, indexer.selectionPad, call.selection()))
      return Error{"store_selection: " + *problem};
  if (!indexer.remap)
    return {};
  auto pages = call.arguments[indexer.pages].as<int32_t, 2>();
  auto contexts = call.arguments[indexer.contexts].as<int32_t, 1>();
  // The destinations may be larger than this call needs.
  pages.extents = {rows.rows() * indexer.remap->kvHeads,
                   indexer.keep * indexer.remap->pagesPerBlock};
  contexts.extents = {pages.extents[0]};
  if (reference::Problem problem = reference::remapPages(
          rows, selection,
          std::as_const(call.arguments[indexer.attnTable]).as<int32_t, 2>(),
          *indexer.remap, pages, contexts))
    return Error{"remap_pages: " + *problem};
  return {};
}

Result<std::vector<runtime::ResolvedLaunch>>
host::launchesOnHost(const Call &call) {
  std::vector<runtime::TensorView> workspace;
  for (const HostTensor &tensor : call.workspace) {
    workspace.push_back(tensor.view);
    workspace.back().address = tensor.hostAddress();
  }
  return runtime::resolveLaunches(*call.indexer->entry, call.symbols,
                                  call.hostViews(), workspace);
}
