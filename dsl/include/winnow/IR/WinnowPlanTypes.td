// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types of the values that flow between the stages of a kernel plan. Each stands
// for what one wave (or workgroup) holds in registers between two leaf functions.
#ifndef WINNOW_IR_WINNOWPLANTYPES_TD
#define WINNOW_IR_WINNOWPLANTYPES_TD

include "winnow/IR/WinnowDialect.td"

class Winnow_StageType<string name, string mnemo, string text>
    : Winnow_Type<name, mnemo> {
  let summary = text;
  let description = text # [{

    Opaque: it has no parameters, since the constants of a kernel stand in its
    shape, and it never leaves the kernel in which it is made.
  }];
}

def Winnow_ScoreTask : Winnow_StageType<"ScoreTask", "score_task",
    "The request and the blocks that one wave scores, with each query's reach.">;
def Winnow_QueryFragment : Winnow_StageType<"QueryFragment", "query_fragment",
    "The index queries of a request as an operand of matrix products.">;
def Winnow_Page : Winnow_StageType<"Page", "page",
    "One block of a request and the page of the key cache where it lies.">;
def Winnow_Slice : Winnow_StageType<"Slice", "slice",
    "The part of a page whose keys are in flight at once.">;
def Winnow_KeyTiles : Winnow_StageType<"KeyTiles", "key_tiles",
    "The keys of a slice as operands of its matrix products.">;
def Winnow_Products : Winnow_StageType<"Products", "products",
    "The dot products of the queries with a slice's tokens.">;
def Winnow_Best : Winnow_StageType<"Best", "best",
    "Each lane's maximum over its tokens of a page, for each query.">;
def Winnow_PageScore : Winnow_StageType<"PageScore", "page_score",
    "The score of a page for each query.">;
def Winnow_RowTask : Winnow_StageType<"RowTask", "row_task",
    "The (row, index head) whose blocks one workgroup selects.">;
def Winnow_ScoreRow : Winnow_StageType<"ScoreRow", "score_row",
    "The scores of one (row, index head), spread over the workgroup's registers.">;
def Winnow_Candidates : Winnow_StageType<"Candidates", "candidates",
    "At most 64 blocks that hold the k best, unordered, in LDS.">;
def Winnow_Ranking : Winnow_StageType<"Ranking", "ranking",
    "The selected blocks in their final order, one lane a rank.">;

#endif // WINNOW_IR_WINNOWPLANTYPES_TD
