// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The choices on which indexers differ, as enumerations.
#ifndef WINNOW_IR_WINNOWATTRS_TD
#define WINNOW_IR_WINNOWATTRS_TD

include "mlir/IR/EnumAttr.td"
include "winnow/IR/WinnowDialect.td"

class Winnow_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<Winnow_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
  let description = "Written as a bare keyword in an operation's options; one "
                    "of " # !interleave(!foreach(c, info.enumerants,
                                        "`#winnow." # mnemonic # "<" # c.str #
                                        ">`"), ", ") # ".";
}

def Winnow_TokenReduction : I32EnumAttr<
    "TokenReduction", "how token scores become a block score", [
      I32EnumAttrCase<"Max", 0, "max">,
      I32EnumAttrCase<"Sum", 1, "sum">,
      I32EnumAttrCase<"Mean", 2, "mean">]> {
  let cppNamespace = "::winnow";
  let genSpecializedAttr = 0;
}
def Winnow_TokenReductionAttr
    : Winnow_EnumAttr<Winnow_TokenReduction, "token_reduction">;

def Winnow_TieRule : I32EnumAttr<
    "TieRule", "which of two blocks with equal scores ranks first", [
      I32EnumAttrCase<"HighestBlock", 0, "highest_block">,
      I32EnumAttrCase<"LowestBlock", 1, "lowest_block">]> {
  let cppNamespace = "::winnow";
  let genSpecializedAttr = 0;
}
def Winnow_TieRuleAttr : Winnow_EnumAttr<Winnow_TieRule, "tie_rule">;

def Winnow_SelectionOrder : I32EnumAttr<
    "SelectionOrder", "the order in which the kept blocks are listed", [
      I32EnumAttrCase<"ScoreDescending", 0, "score_descending">,
      I32EnumAttrCase<"Ascending", 1, "ascending">]> {
  let cppNamespace = "::winnow";
  let genSpecializedAttr = 0;
}
def Winnow_SelectionOrderAttr
    : Winnow_EnumAttr<Winnow_SelectionOrder, "selection_order">;

def Winnow_SelectionLayout : I32EnumAttr<
    "SelectionLayout", "the axis order of a stored selection", [
      I32EnumAttrCase<"HeadMajor", 0, "head_major">,
      I32EnumAttrCase<"TokenMajor", 1, "token_major">]> {
  let cppNamespace = "::winnow";
  let genSpecializedAttr = 0;
}
def Winnow_SelectionLayoutAttr
    : Winnow_EnumAttr<Winnow_SelectionLayout, "selection_layout">;

#endif // WINNOW_IR_WINNOWATTRS_TD
