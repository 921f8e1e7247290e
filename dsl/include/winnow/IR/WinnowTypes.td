// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What passes between the operations of a description: opaque values that
// carry the static facts, so that the compiler decides what lies in memory.
// Types of kernel plans have a file of their own.
#ifndef WINNOW_IR_WINNOWTYPES_TD
#define WINNOW_IR_WINNOWTYPES_TD

include "winnow/IR/WinnowOptions.td"

// A type whose parameters are all integer facts, written `name = value`.
class Winnow_FactType<string name, string mnemonic,
                      list<Winnow_IntOption> factList>
    : Winnow_Type<name, mnemonic> {
  let parameters = !dag(ins, !foreach(f, factList, "int64_t"),
                        !foreach(f, factList, f.name));
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = Winnow_OptionSpecs<factList>.decl;
}

def Winnow_Rows : Winnow_FactType<"Rows", "rows", [Winnow_QueryLen]> {
  let summary = "the query rows of a batch and their causal lengths";
}

def Winnow_Scores : Winnow_FactType<
    "Scores", "scores", [Winnow_QueryLen, Winnow_Heads, Winnow_BlockSize]> {
  let summary = "one score for each (index head, row, visible block)";
}

def Winnow_Selection : Winnow_FactType<
    "Selection", "selection",
    [Winnow_QueryLen, Winnow_Heads, Winnow_BlockSize, Winnow_K]> {
  let summary = "at most k blocks for each (index head, row)";
}

#endif // WINNOW_IR_WINNOWTYPES_TD
