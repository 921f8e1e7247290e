// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of a description. Operations of kernel plans have a file of
// their own.
#ifndef WINNOW_IR_WINNOWOPS_TD
#define WINNOW_IR_WINNOWOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "winnow/IR/WinnowTypes.td"

class Winnow_Op<string mnemonic, list<Winnow_Option> optionList,
                list<Trait> traits = []>
    : Op<Winnow_Dialect, mnemonic, traits> {
  dag optionArguments = !dag(ins, !foreach(o, optionList, o.attr),
                             !foreach(o, optionList, o.name));
  let extraClassDeclaration = Winnow_OptionSpecs<optionList>.decl;
  let hasVerifier = 1;
}

class Winnow_ValueOp<string mnemonic, list<Winnow_Option> optionList,
                     list<Trait> traits = []>
    : Winnow_Op<mnemonic, optionList,
                !listconcat(traits, [InferTypeOpAdaptor,
                  DeclareOpInterfaceMethods<OpAsmOpInterface,
                                            ["getAsmResultNames"]>])>;

def Winnow_UniformRowsOp : Winnow_ValueOp<"uniform_rows", [Winnow_QueryLen]> {
  let summary = "the rows of a batch in which every request has query_len rows";
  let arguments = !con(
      (ins Arg<AnyMemRef, "", [MemRead]>:$lens), optionArguments);
  let results = (outs Winnow_Rows:$rows);
  let assemblyFormat = [{
    $lens custom<Options>(prop-dict, attr-dict, "optionsOf<UniformRowsOp>()")
    `:` type($lens)
  }];
}

def Winnow_BlockScoreOp : Winnow_ValueOp<"block_score", [
    Winnow_EnumOptionOr<"reduce", Winnow_TokenReductionAttr, "TokenReduction",
                        "Max">,
    Winnow_IntOptionOr<"init_blocks", 0, 2147483647, 0>,
    Winnow_IntOptionOr<"local_blocks", 0, 2147483647, 0>]> {
  let summary = "score every block that a row may see";
  let arguments = !con(
      (ins Arg<AnyMemRef, "", [MemRead]>:$query,
           Arg<AnyMemRef, "", [MemRead]>:$keys,
           Arg<AnyMemRef, "", [MemRead]>:$index_table,
           Winnow_Rows:$rows), optionArguments);
  let results = (outs Winnow_Scores:$scores);
  let assemblyFormat = [{
    $query `,` $keys `[` $index_table `]` `on` $rows
    custom<Options>(prop-dict, attr-dict, "optionsOf<BlockScoreOp>()")
    `:` type($query) `,` type($keys) `,` type($index_table) `,` qualified(type($rows))
  }];
}

def Winnow_TopKOp : Winnow_ValueOp<"topk", [
    Winnow_K,
    Winnow_EnumOptionOr<"ties", Winnow_TieRuleAttr, "TieRule", "HighestBlock">,
    Winnow_EnumOptionOr<"order", Winnow_SelectionOrderAttr, "SelectionOrder",
                        "ScoreDescending">], [Pure]> {
  let summary = "keep the k best blocks of each (index head, row)";
  let arguments = !con((ins Winnow_Scores:$scores), optionArguments);
  let results = (outs Winnow_Selection:$selection);
  let assemblyFormat = [{
    $scores custom<Options>(prop-dict, attr-dict, "optionsOf<TopKOp>()")
    `:` qualified(type($scores))
  }];
}

def Winnow_StoreSelectionOp : Winnow_Op<"store_selection", [
    Winnow_EnumOptionOr<"layout", Winnow_SelectionLayoutAttr,
                        "SelectionLayout", "HeadMajor">,
    Winnow_IntOptionOr<"pad", -1, 0, -1>]> {
  let summary = "write the selected block numbers to memory";
  let arguments = !con(
      (ins Winnow_Selection:$selection,
           Arg<AnyMemRef, "", [MemWrite]>:$indices), optionArguments);
  let assemblyFormat = [{
    $selection `,` $indices
    custom<Options>(prop-dict, attr-dict, "optionsOf<StoreSelectionOp>()")
    `:` qualified(type($selection)) `,` type($indices)
  }];
}

def Winnow_RemapPagesOp : Winnow_Op<"remap_pages", [
    Winnow_IntOption<"pages_per_block", 1, 65536>,
    Winnow_IntOption<"kv_heads", 1, 65536>,
    Winnow_IntOptionOr<"pad", -1, 0, 0>]> {
  let summary = "write the page table and context lengths of the selection";
  let arguments = !con(
      (ins Winnow_Selection:$selection,
           Arg<AnyMemRef, "", [MemRead]>:$attention_table,
           Arg<AnyMemRef, "", [MemWrite]>:$pages,
           Arg<AnyMemRef, "", [MemWrite]>:$context_lens), optionArguments);
  let assemblyFormat = [{
    $selection `via` $attention_table `into` $pages `,` $context_lens
    custom<Options>(prop-dict, attr-dict, "optionsOf<RemapPagesOp>()")
    `:` qualified(type($selection)) `,` type($attention_table) `,` type($pages) `,`
        type($context_lens)
  }];
}

#endif // WINNOW_IR_WINNOWOPS_TD
