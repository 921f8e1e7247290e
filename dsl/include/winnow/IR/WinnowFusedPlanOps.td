// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages that join a score kernel and a select kernel into one launch: counting
// the workgroups of a request, and selecting for all of its rows in the last.
#ifndef WINNOW_IR_WINNOWFUSEDPLANOPS_TD
#define WINNOW_IR_WINNOWFUSEDPLANOPS_TD

include "winnow/IR/WinnowGenericPlanOps.td"

def Winnow_CountArrivalsOp : Winnow_StageOp<"count_arrivals"> {
  let summary = "ends every workgroup of a request but the last to arrive";
  let description = [{
    What a workgroup wrote before this stage is seen by the one that goes on, in
    whatever order they arrive. The shape's `kArrivals` says how many workgroups
    a request has.

    The memory holds one counter of two words a request. Its contents need no
    preparation: a counter says by itself whether it is one, and the last to
    arrive leaves it as the next launch needs it.

    ```mlir
    winnow.stage.count_arrivals %arrivals for %task : memref<?x2xi32>, !winnow.score_task
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "counters", [MemRead, MemWrite]>:$arrivals,
                       AnyTypeOf<[Winnow_ScoreTask, Winnow_GenericTask]>:$task);
  let assemblyFormat = [{
    $arrivals `for` $task attr-dict `:` type($arrivals) `,` qualified(type($task))
  }];
  let hasVerifier = 1;
}

def Winnow_WalkRowsOp : Winnow_StageOp<"walk_rows",
    [SingleBlock, NoTerminator, RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop over the rows and index heads of a request";
  let description = [{
    The body runs once for each (row, index head) of the task's request, in the
    order of its queries. It holds the stages of a select kernel behind its
    `select_row`: `!winnow.row_task` of those of a matrix lowering,
    `!winnow.generic_row` of the generic ones.

    ```mlir
    winnow.stage.walk_rows %row of %task via %lens : !winnow.row_task, !winnow.score_task, memref<?xi32> {
      %scores = winnow.stage.load_score_row %score for %row : memref<1x?x8192xf32>
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[Winnow_ScoreTask, Winnow_GenericTask]>:$task,
                       Arg<AnyMemRef, "lengths", [MemRead]>:$seq_lens);
  let regions = (region SizedRegion<1>:$body_region);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

#endif // WINNOW_IR_WINNOWFUSEDPLANOPS_TD
