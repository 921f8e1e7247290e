// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What passes between the operations of a description: opaque values that
// carry the static facts, so that the compiler decides what lies in memory.
// Types of kernel plans have a file of their own.
#ifndef WINNOW_IR_WINNOWTYPES_TD
#define WINNOW_IR_WINNOWTYPES_TD

include "winnow/IR/WinnowOptions.td"

class Winnow_Fact<string what> : AttrOrTypeParameter<"int64_t", what>;

// A type whose parameters are all integer facts, written `name = value`.
class Winnow_FactType<string name, string mnemonic,
                      list<Winnow_IntOptionBase> factList>
    : Winnow_Type<name, mnemonic> {
  let parameters = !dag(
      ins, !foreach(f, factList, Winnow_Fact<f.what>),
      !foreach(f, factList, f.name));
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = Winnow_OptionSpecs<factList>.decl # [{
    /// Whether requests differ in their rows: getQueryLen() is 0 then.
    bool isRagged() const { return getQueryLen() == 0; }
  }];
}

def Winnow_Rows : Winnow_FactType<"Rows", "rows", [Winnow_RowsFact]> {
  let summary = "the query rows of a batch and their causal lengths";
  let description = [{
    Which query tokens there are, to which request each belongs and how many
    tokens of it each may see. `query_len` is the rows of every request; where
    requests differ in their rows, `ragged` stands in its place, here and in the
    types of what is computed from the rows.

    ```mlir
    func.func private @rows(!winnow.rows<query_len = 4>, !winnow.rows<ragged>)
    ```
  }];
}

def Winnow_Scores : Winnow_FactType<
    "Scores", "scores", [Winnow_RowsFact, Winnow_Heads, Winnow_BlockSize]> {
  let summary = "one score for each (index head, row, visible block)";
  let description = [{
    One fp32 score for every block that a row may see; a block past a row's
    causal length has none.

    ```mlir
    func.func private @scores(
        !winnow.scores<query_len = 1, heads = 4, block_size = 128>,
        !winnow.scores<ragged, heads = 4, block_size = 128>)
    ```
  }];
}

def Winnow_Selection : Winnow_FactType<
    "Selection", "selection",
    [Winnow_RowsFact, Winnow_Heads, Winnow_BlockSize, Winnow_K]> {
  let summary = "at most k blocks for each (index head, row)";
  let description = [{
    The kept blocks of every row and index head, in the order that the operation
    which made them says; fewer than `k` where a row sees fewer.

    ```mlir
    func.func private @selection(
        !winnow.selection<query_len = 1, heads = 4, block_size = 128, k = 16>,
        !winnow.selection<ragged, heads = 4, block_size = 128, k = 16>)
    ```
  }];
}

#endif // WINNOW_IR_WINNOWTYPES_TD
