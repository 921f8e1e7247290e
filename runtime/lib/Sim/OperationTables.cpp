// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every table of instructions, in the order in which the documentation has
// them.
#include "Decoder.h"

#include <unordered_map>

namespace winnow::sim {

std::span<const OperationTable> operationTables() {
  static const OperationTable tables[] = {
      {"Scalar arithmetic", scalarOperations()},
      {"Register indexing, quads and messages", scalarIndexOperations()},
      {"Program flow, waits and hardware registers", programOperations()},
      {"Scalar memory", scalarMemoryOperations()},
      {"Scalar stores and atomics", scalarStoreOperations()},
      {"Vector f32 and f64", vectorFloatOperations()},
      {"Vector f16", vectorHalfOperations()},
      {"Vector f16 functions", vectorHalfFunctionOperations()},
      {"Vector integers", vectorIntegerOperations()},
      {"Vector bytes, cube maps and normalised integers",
       vectorByteOperations()},
      {"Conversions", vectorConvertOperations()},
      {"Conversions of small floats with a scale, and stochastic ones",
       vectorScaledOperations()},
      {"Packed arithmetic", vectorPackedOperations()},
      {"Dot products", vectorDotOperations()},
      {"Comparisons", vectorCompareOperations()},
      {"Moves across lanes and register files", crossLaneOperations()},
      {"Local data share", ldsOperations()},
      {"Local data share: floats, exchanges and transposing loads",
       ldsExchangeOperations()},
      {"Flat, global and scratch memory", globalMemoryOperations()},
      {"Buffer memory", bufferMemoryOperations()},
      {"Loads into LDS (those of buffers have the name of the load)",
       loadToLdsOperations()},
      {"Flat, global and buffer atomics", atomicOperations()},
      {"Matrix", mfmaOperations()},
      {"Matrix f64", mfmaDoubleOperations()},
      {"Matrix with a compressed operand", mfmaCompressedOperations()}};
  return tables;
}

const Operation *findOperation(std::string_view name) {
  static const std::unordered_map<std::string_view, const Operation *> table =
      [] {
        std::unordered_map<std::string_view, const Operation *> all;
        for (const OperationTable &part : operationTables())
          for (const Operation &op : part.operations)
            all.emplace(op.name, &op);
        return all;
      }();
  auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

} // namespace winnow::sim
