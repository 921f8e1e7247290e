// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stages of what runs once a step: each is a kernel of its own.
#ifndef WINNOW_IR_WINNOWSTEPPLANOPS_TD
#define WINNOW_IR_WINNOWSTEPPLANOPS_TD

include "winnow/IR/WinnowPlanOps.td"

def Winnow_ExtentOp : Winnow_PlanOp<"extent", [Pure]> {
  let summary = "an extent that a launch is sized by";
  let description = [{
    How many table rows, slots or keys there are: known to the host when it
    launches.

    Refused: an axis that the memref does not have.

    ```mlir
    %slots = winnow.extent %in axis 0 : memref<?xi32>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, I64Attr:$axis);
  let results = (outs Index:$extent);
  let assemblyFormat = "$memory `axis` $axis attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def Winnow_RebaseTableStageOp : Winnow_StageOp<"rebase_table"> {
  let summary = "scales the entries of a block table's row";
  let description = [{
    A workgroup takes a part of one row.

    ```mlir
    winnow.stage.rebase_table %in into %out : memref<?x?xi32>, memref<?x?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "block table", [MemRead]>:$input,
                       Arg<AnyMemRef, "scaled table", [MemWrite]>:$output);
  let assemblyFormat = [{
    $input `into` $output attr-dict `:` type($input) `,` type($output)
  }];
}

def Winnow_RebaseSlotsStageOp : Winnow_StageOp<"rebase_slots"> {
  let summary = "moves slots to the first side of their blocks";
  let description = [{
    A lane takes one slot.

    ```mlir
    winnow.stage.rebase_slots %in into %out : memref<?xi32>, memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "slots", [MemRead]>:$input,
                       Arg<AnyMemRef, "moved slots", [MemWrite]>:$output);
  let assemblyFormat = [{
    $input `into` $output attr-dict `:` type($input) `,` type($output)
  }];
}

def Winnow_InsertKeysStageOp : Winnow_StageOp<"insert_keys"> {
  let summary = "converts new keys and writes them where their slots say";
  let description = [{
    A lane takes 8 elements of one key.

    ```mlir
    winnow.stage.insert_keys %keys at %slots into %cache : memref<?x128xbf16>, memref<?xi32>, memref<?x128x128xf8E4M3FN>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "new keys", [MemRead]>:$keys,
                       Arg<AnyMemRef, "slots", [MemRead]>:$slots,
                       Arg<AnyMemRef, "key cache", [MemWrite]>:$cache);
  let assemblyFormat = [{
    $keys `at` $slots `into` $cache attr-dict
    `:` type($keys) `,` type($slots) `,` type($cache)
  }];
}

#endif // WINNOW_IR_WINNOWSTEPPLANOPS_TD
