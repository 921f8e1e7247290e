// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages of the kernels for ragged rows (prefill, mixed batches): the waves of a
// workgroup share the keys of a chunk of blocks through local memory. What
// differs from uniform rows is here; forcing, storing and selecting are shared.
#ifndef WINNOW_IR_WINNOWRAGGEDPLANOPS_TD
#define WINNOW_IR_WINNOWRAGGEDPLANOPS_TD

include "winnow/IR/WinnowPlanOps.td"

def Winnow_RaggedTaskOp : Winnow_StageValueOp<"ragged_task", "task"> {
  let summary = "which rows, and which of their blocks, a workgroup scores";
  let description = [{
    A tile of one request's rows against a chunk of its blocks. The request is
    searched for in the row offsets; how many tiles there are follows from the
    numbers of rows and requests alone. Of the queries nothing but their extent
    is asked: rows past it are not scored, whatever the offsets say.

    ```mlir
    %task = winnow.stage.ragged_task %lens, %cu_seqlens of %q : memref<?xi32>, memref<?xi32>, memref<?x4x128xbf16>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "lengths", [MemRead]>:$seq_lens,
                       Arg<AnyMemRef, "row offsets", [MemRead]>:$cu_seqlens,
                       AnyMemRef:$query);
  let results = (outs Winnow_ScoreTask:$task);
  let assemblyFormat = [{
    $seq_lens `,` $cu_seqlens `of` $query attr-dict
    `:` type($seq_lens) `,` type($cu_seqlens) `,` type($query)
  }];
}

def Winnow_LoadQueryTilesOp : Winnow_StageValueOp<"load_query_tiles", "fragment"> {
  let summary = "loads a wave's queries for the matrix unit";
  let description = [{
    Sixteen queries a tile, several tiles a wave, held for the whole walk. A
    query is a pair of a row and an index head.

    ```mlir
    %queries = winnow.stage.load_query_tiles %q for %task : memref<?x1x128xf8E4M3FN>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "queries", [MemRead]>:$query,
                       Winnow_ScoreTask:$task);
  let results = (outs Winnow_QueryFragment:$fragment);
  let assemblyFormat = "$query `for` $task attr-dict `:` type($query)";
}

def Winnow_WalkSharedOp : Winnow_StageOp<"walk_shared",
    [SingleBlock, NoTerminator, RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop over a workgroup's blocks, their keys read once for all waves";
  let description = [{
    The body runs once a block of the chunk, in every wave.

    ```mlir
    winnow.stage.walk_shared %page of %task via %table from %keys : memref<?x?xi32>, memref<?x128x128xf8E4M3FN> {
      %best = winnow.stage.share_slices %slice of %page carry %running slices 1 {
        winnow.stage.yield %running : !winnow.best
      }
    }
    ```
  }];
  let arguments = (ins Winnow_ScoreTask:$task,
                       Arg<AnyMemRef, "block table", [MemRead]>:$table,
                       Arg<AnyMemRef, "key cache", [MemRead]>:$keys);
  let regions = (region SizedRegion<1>:$body_region);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Winnow_ShareSlicesOp : Winnow_StageValueOp<"share_slices", "best",
    [SingleBlock, RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop over the slices of a page, through two buffers in local memory";
  let description = [{
    The body runs with a slice's keys in one buffer while the next slice's are on
    their way to the other. The maximum starts at `-inf`.

    ```mlir
    %best = winnow.stage.share_slices %slice of %page carry %running slices 2 {
      winnow.stage.yield %running : !winnow.best
    }
    ```
  }];
  let arguments = (ins Winnow_Page:$page, I64Attr:$slices);
  let results = (outs Winnow_Best:$best);
  let regions = (region SizedRegion<1>:$body_region);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Winnow_ScoreSliceOp : Winnow_StageValueOp<"score_slice", "next", [Pure]> {
  let summary = "products of a shared slice with a wave's queries, into the maximum";
  let description = [{
    Tokens that a row does not see are masked, in pages alone that some row of
    the wave does not see whole; a page that none of them sees is left out. A NaN
    product never wins.

    ```mlir
    %next = winnow.stage.score_slice %slice with %queries of %task into %running
    ```
  }];
  let arguments = (ins Winnow_Slice:$slice, Winnow_QueryFragment:$queries,
                       Winnow_ScoreTask:$task, Winnow_Best:$best);
  let results = (outs Winnow_Best:$next);
  let assemblyFormat = [{
    $slice `with` $queries `of` $task `into` $best attr-dict
  }];
}

def Winnow_ReduceTilesOp : Winnow_StageValueOp<"reduce_tiles", "score", [Pure]> {
  let summary = "the maximum over the lanes of a query, one query a lane";
  let description = [{
    ```mlir
    %score = winnow.stage.reduce_tiles %best
    ```
  }];
  let arguments = (ins Winnow_Best:$best);
  let results = (outs Winnow_PageScore:$value);
  let assemblyFormat = "$best attr-dict";
}

def Winnow_SelectRaggedRowOp : Winnow_StageValueOp<"select_ragged_row", "row"> {
  let summary = "which (row, index head) of ragged rows a workgroup selects for";
  let description = [{
    The row's request is searched for in the row offsets.

    ```mlir
    %row = winnow.stage.select_ragged_row %lens, %cu_seqlens : memref<?xi32>, memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "lengths", [MemRead]>:$seq_lens,
                       Arg<AnyMemRef, "row offsets", [MemRead]>:$cu_seqlens);
  let results = (outs Winnow_RowTask:$row);
  let assemblyFormat = [{
    $seq_lens `,` $cu_seqlens attr-dict `:` type($seq_lens) `,` type($cu_seqlens)
  }];
}

#endif // WINNOW_IR_WINNOWRAGGEDPLANOPS_TD
