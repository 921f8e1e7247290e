// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages of the generic lowering's kernels: coarser than those of the matrix
// lowerings, since what they hand on lies in the workgroup's local memory rather
// than in lanes' registers.
#ifndef WINNOW_IR_WINNOWGENERICPLANOPS_TD
#define WINNOW_IR_WINNOWGENERICPLANOPS_TD

include "winnow/IR/WinnowPlanOps.td"

def Winnow_GenericTask : Winnow_StageType<"GenericTask", "generic_task",
    "The request, blocks and queries that one workgroup scores.">;
def Winnow_GenericQueries : Winnow_StageType<"GenericQueries", "generic_queries",
    "The queries of a workgroup as floats, in local memory.">;
def Winnow_GenericRow : Winnow_StageType<"GenericRow", "generic_row",
    "The (row, index head) whose blocks one workgroup selects.">;
def Winnow_GenericCut : Winnow_StageType<"GenericCut", "generic_cut",
    "What a block of a row has to reach to be kept.">;
def Winnow_GenericCandidates : Winnow_StageType<"GenericCandidates", "generic_candidates",
    "The candidates of all ranks for a row, where they lie in memory.">;
def Winnow_GenericRanking : Winnow_StageType<"GenericRanking", "generic_ranking",
    "The selected blocks in their final order, in local memory.">;

def Winnow_GenericScoreTaskOp
    : Winnow_StageValueOp<"generic_score_task", "task"> {
  let summary = "which request, blocks and queries a workgroup scores";
  let description = [{
    Also gives the causal length of each query's row.

    ```mlir
    %task = winnow.stage.generic_score_task %lens : memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "lengths", [MemRead]>:$seq_lens);
  let results = (outs Winnow_GenericTask:$task);
  let assemblyFormat = "$seq_lens attr-dict `:` type($seq_lens)";
}

def Winnow_GenericRaggedTaskOp
    : Winnow_StageValueOp<"generic_ragged_task", "task"> {
  let summary = "the same where rows are ragged";
  let description = [{
    A group of one request's queries against a chunk of its blocks. The request
    is searched for in the row offsets; how many groups there are follows from
    the numbers of rows and requests alone. Of the queries nothing but their
    extent is asked: rows past it are not scored, whatever the offsets say.

    ```mlir
    %task = winnow.stage.generic_ragged_task %lens, %cu_seqlens of %q : memref<?xi32>, memref<?xi32>, memref<?x4x64xbf16>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "lengths", [MemRead]>:$seq_lens,
                       Arg<AnyMemRef, "row offsets", [MemRead]>:$cu_seqlens,
                       AnyMemRef:$query);
  let results = (outs Winnow_GenericTask:$task);
  let assemblyFormat = [{
    $seq_lens `,` $cu_seqlens `of` $query attr-dict
    `:` type($seq_lens) `,` type($cu_seqlens) `,` type($query)
  }];
}

def Winnow_GenericLoadQueriesOp
    : Winnow_StageValueOp<"generic_load_queries", "queries"> {
  let summary = "decodes the queries of a workgroup into local memory";
  let description = [{
    Any strides between rows and between heads, any number format.

    ```mlir
    %queries = winnow.stage.generic_load_queries %q for %task : memref<?x4x64xbf16>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "queries", [MemRead]>:$query,
                       Winnow_GenericTask:$task);
  let results = (outs Winnow_GenericQueries:$queries);
  let assemblyFormat = "$query `for` $task attr-dict `:` type($query)";
}

def Winnow_GenericScoreBlocksOp : Winnow_StageOp<"generic_score_blocks"> {
  let summary = "scores the blocks of a workgroup for all its queries";
  let description = [{
    Each lane takes the key of a token through the dot products with every
    query; the workgroup reduces over the tokens of a block that a row sees.
    Forced blocks and blocks that are not in memory get their scores here too.

    ```mlir
    winnow.stage.generic_score_blocks %queries, %keys via %table for %task into %score
        : memref<?x64x64xbf16>, memref<?x?xi32>, memref<4x?x256xf32>
    ```
  }];
  let arguments = (ins Winnow_GenericQueries:$queries,
                       Arg<AnyMemRef, "key cache", [MemRead]>:$keys,
                       Arg<AnyMemRef, "block table", [MemRead]>:$table,
                       Winnow_GenericTask:$task,
                       Arg<AnyMemRef, "scores", [MemWrite]>:$scores);
  let assemblyFormat = [{
    $queries `,` $keys `via` $table `for` $task `into` $scores attr-dict
    `:` type($keys) `,` type($table) `,` type($scores)
  }];
}

def Winnow_GenericSelectRowOp
    : Winnow_StageValueOp<"generic_select_row", "row"> {
  let summary = "which (row, index head) a workgroup selects for";
  let description = [{
    ```mlir
    %row = winnow.stage.generic_select_row %lens : memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "lengths", [MemRead]>:$seq_lens);
  let results = (outs Winnow_GenericRow:$row);
  let assemblyFormat = "$seq_lens attr-dict `:` type($seq_lens)";
}

def Winnow_GenericSelectRaggedRowOp
    : Winnow_StageValueOp<"generic_select_ragged_row", "row"> {
  let summary = "which (row, index head) of ragged rows a workgroup selects for";
  let description = [{
    The row's request is searched for in the row offsets.

    ```mlir
    %row = winnow.stage.generic_select_ragged_row %lens, %cu_seqlens : memref<?xi32>, memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "lengths", [MemRead]>:$seq_lens,
                       Arg<AnyMemRef, "row offsets", [MemRead]>:$cu_seqlens);
  let results = (outs Winnow_GenericRow:$row);
  let assemblyFormat = [{
    $seq_lens `,` $cu_seqlens attr-dict `:` type($seq_lens) `,` type($cu_seqlens)
  }];
}

def Winnow_GenericFindCutOp : Winnow_StageValueOp<"generic_find_cut", "cut"> {
  let summary = "finds which blocks of a row are kept";
  let description = [{
    A radix select over (score, block number), which is exact for any ties. The
    row is read from memory once for every eight bits that it needs.

    ```mlir
    %cut = winnow.stage.generic_find_cut %score for %row : memref<1x?x8192xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "scores", [MemRead]>:$scores,
                       Winnow_GenericRow:$row);
  let results = (outs Winnow_GenericCut:$cut);
  let assemblyFormat = "$scores `for` $row attr-dict `:` type($scores)";
}

def Winnow_GenericSortKeptOp
    : Winnow_StageValueOp<"generic_sort_kept", "ranking"> {
  let summary = "gathers the kept blocks and puts them into their final order";
  let description = [{
    ```mlir
    %ranking = winnow.stage.generic_sort_kept %score from %cut for %row : memref<1x?x8192xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "scores", [MemRead]>:$scores,
                       Winnow_GenericCut:$cut, Winnow_GenericRow:$row);
  let results = (outs Winnow_GenericRanking:$ranking);
  let assemblyFormat = [{
    $scores `from` $cut `for` $row attr-dict `:` type($scores)
  }];
}

def Winnow_GenericStoreSelectionOp
    : Winnow_StageOp<"generic_store_selection"> {
  let summary = "stores the selected block numbers";
  let description = [{
    `head_axis` and `row_axis` say which axis of the destination counts index
    heads and which rows.

    ```mlir
    winnow.stage.generic_store_selection %ranking for %row into %idx {head_axis = 0 : i64, row_axis = 1 : i64} : memref<1x?x16xi32>
    ```
  }];
  let arguments = (ins Winnow_GenericRanking:$ranking, Winnow_GenericRow:$row,
                       Arg<AnyMemRef, "selection", [MemWrite]>:$indices,
                       I64Attr:$head_axis, I64Attr:$row_axis);
  let assemblyFormat = [{
    $ranking `for` $row `into` $indices attr-dict `:` type($indices)
  }];
  let hasVerifier = 1;
}

def Winnow_GenericEmitPagesOp : Winnow_StageOp<"generic_emit_pages"> {
  let summary = "writes the page table rows and context lengths of a row";
  let description = [{
    The rows of all kv heads that the workgroup's index head serves.

    ```mlir
    winnow.stage.generic_emit_pages %ranking for %row via %attn_table into %pages, %ctx : memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
    ```
  }];
  let arguments = (ins Winnow_GenericRanking:$ranking, Winnow_GenericRow:$row,
                       Arg<AnyMemRef, "block table", [MemRead]>:$table,
                       Arg<AnyMemRef, "pages", [MemWrite]>:$pages,
                       Arg<AnyMemRef, "context lengths", [MemWrite]>:$context_lens);
  let assemblyFormat = [{
    $ranking `for` $row `via` $table `into` $pages `,` $context_lens attr-dict
    `:` type($table) `,` type($pages) `,` type($context_lens)
  }];
}

def Winnow_GenericStoreCandidatesOp
    : Winnow_StageOp<"generic_store_candidates"> {
  let summary = "stores the selected blocks and their scores for other ranks";
  let description = [{
    ```mlir
    winnow.stage.generic_store_candidates %ranking for %row of %score into %ids, %best : memref<1x?x1024xf32>, memref<1x?x16xi32>, memref<1x?x16xf32>
    ```
  }];
  let arguments = (ins Winnow_GenericRanking:$ranking, Winnow_GenericRow:$row,
                       Arg<AnyMemRef, "scores", [MemRead]>:$scores,
                       Arg<AnyMemRef, "block numbers", [MemWrite]>:$ids,
                       Arg<AnyMemRef, "their scores", [MemWrite]>:$best);
  let assemblyFormat = [{
    $ranking `for` $row `of` $scores `into` $ids `,` $best attr-dict
    `:` type($scores) `,` type($ids) `,` type($best)
  }];
}

def Winnow_GenericRankCandidatesOp
    : Winnow_StageValueOp<"generic_rank_candidates", "candidates"> {
  let summary = "where the candidates of all ranks for a row lie";
  let description = [{
    They stay in memory, as the scores of a row do. A number that is negative or
    past the row's reach is no candidate.

    ```mlir
    %candidates = winnow.stage.generic_rank_candidates %ids, %best for %row : memref<?x1x?x16xi32>, memref<?x1x?x16xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "block numbers", [MemRead]>:$ids,
                       Arg<AnyMemRef, "their scores", [MemRead]>:$best,
                       Winnow_GenericRow:$row);
  let results = (outs Winnow_GenericCandidates:$candidates);
  let assemblyFormat = [{
    $ids `,` $best `for` $row attr-dict `:` type($ids) `,` type($best)
  }];
}

def Winnow_GenericFindMergedCutOp
    : Winnow_StageValueOp<"generic_find_merged_cut", "cut"> {
  let summary = "finds which candidates of all ranks are kept";
  let description = [{
    As generic_find_cut does of the blocks of a row.

    ```mlir
    %cut = winnow.stage.generic_find_merged_cut %candidates
    ```
  }];
  let arguments = (ins Winnow_GenericCandidates:$candidates);
  let results = (outs Winnow_GenericCut:$cut);
  let assemblyFormat = "$candidates attr-dict";
}

def Winnow_GenericSortMergedOp
    : Winnow_StageValueOp<"generic_sort_merged", "ranking"> {
  let summary = "gathers the kept candidates and puts them into their final order";
  let description = [{
    ```mlir
    %ranking = winnow.stage.generic_sort_merged %candidates from %cut
    ```
  }];
  let arguments = (ins Winnow_GenericCandidates:$candidates,
                       Winnow_GenericCut:$cut);
  let results = (outs Winnow_GenericRanking:$ranking);
  let assemblyFormat = "$candidates `from` $cut attr-dict";
}

#endif // WINNOW_IR_WINNOWGENERICPLANOPS_TD
