// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The instruction tables as a page of the documentation.
#include "winnow/Sim/Instructions.h"

#include "Instruction.h"

#include <set>

namespace winnow::sim {

std::string instructionTable() {
  struct Part {
    const char *title;
    std::span<const Operation> operations;
  };
  const Part parts[] = {
      {"Scalar arithmetic", scalarOperations()},
      {"Program flow, waits and hardware registers", programOperations()},
      {"Scalar memory", scalarMemoryOperations()},
      {"Vector f32 and f64", vectorFloatOperations()},
      {"Vector f16", vectorHalfOperations()},
      {"Vector integers", vectorIntegerOperations()},
      {"Conversions", vectorConvertOperations()},
      {"Packed arithmetic and dot products", vectorPackedOperations()},
      {"Comparisons", vectorCompareOperations()},
      {"Moves across lanes and register files", crossLaneOperations()},
      {"Local data share", ldsOperations()},
      {"Flat, global and scratch memory", globalMemoryOperations()},
      {"Global atomics", atomicOperations()},
      {"Matrix", mfmaOperations()}};
  size_t total = 0;
  std::string body;
  for (const Part &part : parts) {
    // By name: the order of the tables is no order for a reader.
    std::set<std::string> names;
    for (const Operation &op : part.operations)
      names.insert(op.name);
    total += names.size();
    body += std::string("\n## ") + part.title + " (" +
            std::to_string(names.size()) + ")\n\n";
    std::string line;
    for (const std::string &name : names) {
      std::string word = "`" + name + "`";
      if (!line.empty() && line.size() + 1 + word.size() > 100) {
        body += line + "\n";
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    body += line + "\n";
  }
  return "# Instructions of the simulated gfx950\n\n"
         "<!-- Written by `winnow sim --instructions`; a test compares it. "
         "-->\n\n" +
         std::to_string(total) +
         " instructions, in every encoding that gfx950 has for them (VOP1, "
         "VOP2, VOPC and VOP3 with their\nmodifiers, SDWA and DPP). Anything "
         "else stops a launch when it is reached, with its name; so does a\n"
         "combination of modifiers that is not simulated. Known gaps: "
         "buffer memory (`buffer_load_*`,\n`buffer_store_*`, "
         "`buffer_atomic_*`) and loads into LDS, transposed LDS reads "
         "(`ds_read_*_tr_*`), global\ndata share, packed f16 and bf16 "
         "atomics, f64, xf32 and sparse matrix instructions, messages\n"
         "(`s_sendmsg`), rounding modes other than to nearest even.\n" +
         body;
}

} // namespace winnow::sim
