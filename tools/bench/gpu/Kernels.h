// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An entry of a bundle with its prebuilt kernels loaded, each to be launched
// alone or with the others, as the runtime would.
#ifndef WINNOW_BENCH_GPU_KERNELS_H
#define WINNOW_BENCH_GPU_KERNELS_H

#include "Session.h"

#include "winnow/Host/Indexer.h"
#include "winnow/Runtime/Bundle.h"

namespace winnow::bench {

/// Which kernels of an entry.
enum class Part { All, Score, Select };

class Kernels {
public:
  /// The bundle's first variant of that name that has code for the device.
  static Result<std::unique_ptr<Kernels>> load(Session &session,
                                               const runtime::Bundle &bundle,
                                               const std::string &entry);
  /// What `load` would miss of all those entries; every one is named.
  static Status check(Session &session, const runtime::Bundle &bundle,
                      const std::vector<std::string> &entries);
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;

  const host::Indexer &indexer() const { return shape; }
  const runtime::Entry &entry() const { return *shape.entry; }
  bool hasPart(Part part) const;

  /// What a call launches, bound once and enqueued often.
  using Bound = std::vector<runtime::ResolvedLaunch>;
  /// The workspace's parts lie one after the other from `workspace` on, in
  /// `workspaceBytes`.
  Result<Bound> bind(const std::vector<runtime::TensorView> &arguments,
                     uint64_t workspace, uint64_t workspaceBytes) const;
  /// Bytes that such a call needs.
  Result<uint64_t>
  workspaceBytes(const std::vector<runtime::TensorView> &arguments) const;
  Status enqueue(Session &session, const Bound &bound, Part part) const;

private:
  Kernels() = default;
  host::Indexer shape;
  std::vector<std::shared_ptr<runtime::Module>> modules;
  std::vector<std::pair<std::string, void *>> functions;
};

} // namespace winnow::bench

#endif // WINNOW_BENCH_GPU_KERNELS_H
