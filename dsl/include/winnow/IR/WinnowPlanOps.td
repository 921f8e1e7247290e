// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel plans as IR: a kernel is a short program of stage operations. The
// emitter turns each stage into one call of one leaf function of templates/ and
// each loop into a loop; rewrites of a plan are rewrites of this IR.
#ifndef WINNOW_IR_WINNOWPLANOPS_TD
#define WINNOW_IR_WINNOWPLANOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "winnow/IR/WinnowPlanTypes.td"

def Winnow_PlanGroup : OpDocGroup {
  let summary = "Operations of kernel plans";
  let description = [{
    How it is computed: kernels as programs of stages, and their launches.
  }];
}

class Winnow_PlanOp<string mnemonic, list<Trait> traits = []>
    : Op<Winnow_Dialect, mnemonic, traits> {
  let opDocGroup = Winnow_PlanGroup;
}

//===----------------------------------------------------------------------===//
// Kernels and how an entry launches them
//===----------------------------------------------------------------------===//

def Winnow_KernelOp : Winnow_PlanOp<"kernel",
    [IsolatedFromAbove, Symbol, SingleBlock, NoTerminator,
     HasParent<"::mlir::ModuleOp">,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a GPU kernel as a program of stages";
  let description = [{
    A kernel's block arguments are the memory that it reads and writes. `shape`
    holds every compile-time constant of its leaf functions under the name that
    the templates use for it (`kHeads`, `kBlockSize`, ...); `shape_name` is the
    struct that carries them in the generated source. `grid` gives the number of
    workgroups along x, y and z for `s0` requests and, where a second symbol is
    given, `s1` rows: it depends on nothing else, so a captured graph replays for
    any lengths within the bounds. A workgroup has `waves` waves: of 64 lanes, in
    the lowering `mma` of 32. The generic lowering counts 64 work-items as one,
    which on a target with waves of 32 are two.

    Refused: a name that is no C identifier, a grid without exactly three results
    and one or two symbols, `waves` outside [1, 16], a shape entry that is not an
    integer or a boolean, an operation that is not a stage.

    ```mlir
    winnow.kernel @score(%q: memref<?x1x128xf8E4M3FN>, %lens: memref<?xi32>)
        shape Score {kHeads = 1, kQueryLen = 1}
        grid affine_map<()[s0] -> (8, s0, 1)> waves 4
        attributes {winnow.arch = "gfx950", winnow.lowering = "mfma"} {
      %task = winnow.stage.score_task %lens : memref<?xi32>
      %query = winnow.stage.load_query %q for %task : memref<?x1x128xf8E4M3FN>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$shape_name,
                       DictionaryAttr:$shape, AffineMapAttr:$grid,
                       I64Attr:$waves);
  let regions = (region SizedRegion<1>:$body_region);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The integer constant `name` of the shape, or none.
    std::optional<int64_t> getShapeConstant(::llvm::StringRef name);
    /// What the memory of argument `index` holds, by the stage that uses it:
    /// "seq_lens", "cu_seqlens", "query", "keys", "index_table", "score",
    /// "selection", "attn_table", "pages", "ctx", "candidate_ids",
    /// "candidate_scores", "rank_ids" or "rank_scores"; empty if no stage uses
    /// it.
    ::llvm::StringRef getArgumentRole(unsigned index);
  }];
}

def Winnow_RequestsOp : Winnow_PlanOp<"requests", [Pure]> {
  let summary = "the number of requests of a launch";
  let description = [{
    The extent of the lengths: known to the host when it launches, the same in
    every replay of a captured graph.

    ```mlir
    %requests = winnow.requests %lens : memref<?xi32>
    ```
  }];
  let arguments = (ins AnyMemRef:$seq_lens);
  let results = (outs Index:$requests);
  let assemblyFormat = "$seq_lens attr-dict `:` type($seq_lens)";
}

def Winnow_WorkspaceOp : Winnow_PlanOp<"workspace",
    [MemoryEffects<[MemAlloc]>]> {
  let summary = "device memory that lives for one run of an entry";
  let description = [{
    `extents` gives the extent of every axis for the `sizes`: `s0` requests and,
    where it has a second symbol, `s1` rows. The caller of the plan provides the
    memory; its contents are undefined before the first launch.

    Refused: a number of extents that differs from the rank, a static extent that
    differs from the map's, a number of sizes that differs from its symbols.

    ```mlir
    %score = winnow.workspace[%requests] affine_map<()[s0] -> (1, s0, 8192)> : memref<1x?x8192xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, AffineMapAttr:$extents);
  let results = (outs AnyMemRef:$memory);
  let assemblyFormat = "`[` $sizes `]` $extents attr-dict `:` type($memory)";
  let hasVerifier = 1;
}

def Winnow_LaunchOp : Winnow_PlanOp<"launch",
    [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launches a kernel";
  let description = [{
    Launches follow one another on one stream, in the order of the operations.
    `sizes` are what the kernel's grid is computed from: the requests and, if it
    has a second symbol, the rows.

    Refused: a symbol that is not a kernel, sizes that are not one for each
    symbol of its grid, operands whose types differ from the kernel's arguments.

    ```mlir
    winnow.launch @score[%requests](%q, %lens) : memref<?x1x128xf8E4M3FN>, memref<?xi32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Index>:$sizes,
                       Variadic<AnyMemRef>:$arguments);
  let assemblyFormat = [{
    $kernel `[` $sizes `]` `(` $arguments `)` attr-dict `:` type($arguments)
  }];
}

//===----------------------------------------------------------------------===//
// Stages of scoring
//===----------------------------------------------------------------------===//

class Winnow_StageOp<string name, list<Trait> traits = []>
    : Winnow_PlanOp<"stage." # name, traits>;

// A stage with one result, which is called `resultName` when printed.
class Winnow_StageValueOp<string name, string resultName,
                          list<Trait> traits = []>
    : Winnow_StageOp<name, !listconcat(traits, [
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>])> {
  let extraClassDefinition = [{
    void $cppClass::getAsmResultNames(::mlir::OpAsmSetValueNameFn setName) {
      setName((*this)->getResult(0), "}] # resultName # [{");
    }
  }];
}

def Winnow_ScoreTaskOp : Winnow_StageValueOp<"score_task", "task"> {
  let summary = "which request, and which of its blocks, a wave scores";
  let description = [{
    Also gives every lane the causal length and the reach (`nb`) of the queries
    whose products it holds.

    ```mlir
    %task = winnow.stage.score_task %lens : memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "lengths", [MemRead]>:$seq_lens);
  let results = (outs Winnow_ScoreTask:$task);
  let assemblyFormat = "$seq_lens attr-dict `:` type($seq_lens)";
}

def Winnow_LoadQueryOp : Winnow_StageValueOp<"load_query", "fragment"> {
  let summary = "loads the index queries of a request for the matrix unit";
  let description = [{
    Query `t * heads + h` is that of row `t` and index head `h`: at most 16 in
    all, which is what the matrix units take. Whether they are its rows or its
    columns is for the architecture's header to say.

    ```mlir
    %query = winnow.stage.load_query %q for %task : memref<?x1x128xf8E4M3FN>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "queries", [MemRead]>:$query,
                       Winnow_ScoreTask:$task);
  let results = (outs Winnow_QueryFragment:$fragment);
  let assemblyFormat = "$query `for` $task attr-dict `:` type($query)";
}

def Winnow_WalkPagesOp : Winnow_StageOp<"walk_pages",
    [SingleBlock, NoTerminator, RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop over the blocks of a wave, with the page of each";
  let description = [{
    The body runs once a block, with its page resolved through the block table.

    ```mlir
    winnow.stage.walk_pages %page of %task via %table : memref<?x?xi32> {
      %value = winnow.stage.if_mapped %page {
        %best = winnow.stage.walk_slices %slice of %page carry %running slices 1 {
          winnow.stage.yield %running : !winnow.best
        }
        %score = winnow.stage.reduce %best
        winnow.stage.yield %score : !winnow.page_score
      }
    }
    ```
  }];
  let arguments = (ins Winnow_ScoreTask:$task,
                       Arg<AnyMemRef, "block table", [MemRead]>:$table);
  let regions = (region SizedRegion<1>:$body_region);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def Winnow_IfMappedOp : Winnow_StageValueOp<"if_mapped", "value",
    [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the score of a page that is in memory, else -inf";
  let description = [{
    A negative entry of the block table says that the block is not in memory:
    then nothing in the body runs, so nothing is read for it, and its score is
    `-inf` even where it is a forced block.

    ```mlir
    %score = winnow.stage.if_mapped %page {
      winnow.stage.yield %forced : !winnow.page_score
    }
    ```
  }];
  let arguments = (ins Winnow_Page:$page);
  let results = (outs Winnow_PageScore:$score);
  let regions = (region SizedRegion<1>:$body_region);
  let assemblyFormat = "$page attr-dict-with-keyword $body_region";
  let hasRegionVerifier = 1;
}

def Winnow_WalkSlicesOp : Winnow_StageValueOp<"walk_slices", "best",
    [SingleBlock, RecursiveMemoryEffects,
     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a loop over the slices of a page that keeps the maximum";
  let description = [{
    The maximum starts at `-inf`.

    ```mlir
    %best = winnow.stage.walk_slices %slice of %page carry %running slices 2 {
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

def Winnow_StageYieldOp : Winnow_StageOp<"yield",
    [Pure, Terminator, ReturnLike, ParentOneOf<["WalkSlicesOp", "IfMappedOp", "ShareSlicesOp"]>]> {
  let summary = "the maximum that a loop or condition hands on";
  let description = [{
    ```mlir
    winnow.stage.yield %folded : !winnow.best
    ```
  }];
  let arguments = (ins AnyTypeOf<[Winnow_Best, Winnow_PageScore]>:$value);
  let assemblyFormat = "$value attr-dict `:` qualified(type($value))";
}

def Winnow_LoadKeyTilesOp : Winnow_StageValueOp<"load_key_tiles", "tiles"> {
  let summary = "loads the keys of a slice, in tiles of 16 tokens";
  let description = [{
    All loads of the slice are in flight at once: 16 bytes a lane each. Where a
    target copies keys to local memory ahead of the walk, they come from there.

    ```mlir
    %keys = winnow.stage.load_key_tiles %cache at %slice : memref<?x128x128xf8E4M3FN>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "key cache", [MemRead]>:$keys,
                       Winnow_Slice:$slice);
  let results = (outs Winnow_KeyTiles:$tiles);
  let assemblyFormat = "$keys `at` $slice attr-dict `:` type($keys)";
}

def Winnow_MultiplyAccumulateOp : Winnow_StageValueOp<"multiply_accumulate", "products", [Pure]> {
  let summary = "dot products of a slice's keys with all queries";
  let description = [{
    ```mlir
    %products = winnow.stage.multiply_accumulate %keys, %query
    ```
  }];
  let arguments = (ins Winnow_KeyTiles:$keys, Winnow_QueryFragment:$query);
  let results = (outs Winnow_Products:$products);
  let assemblyFormat = "$keys `,` $query attr-dict";
}

def Winnow_MaskOp : Winnow_StageValueOp<"mask", "masked", [Pure]> {
  let summary = "takes tokens that a row does not see out of the maximum";
  let description = [{
    Runs only in pages that some row sees in part.

    ```mlir
    %masked = winnow.stage.mask %products, %task at %slice
    ```
  }];
  let arguments = (ins Winnow_Products:$products, Winnow_ScoreTask:$task,
                       Winnow_Slice:$slice);
  let results = (outs Winnow_Products:$masked);
  let assemblyFormat = "$products `,` $task `at` $slice attr-dict";
}

def Winnow_FoldOp : Winnow_StageValueOp<"fold", "folded", [Pure]> {
  let summary = "takes the products of a slice into the maximum";
  let description = [{
    A NaN product never wins.

    ```mlir
    %next = winnow.stage.fold %masked into %running
    ```
  }];
  let arguments = (ins Winnow_Products:$products, Winnow_Best:$best);
  let results = (outs Winnow_Best:$next);
  let assemblyFormat = "$products `into` $best attr-dict";
}

def Winnow_ReduceOp : Winnow_StageValueOp<"reduce", "score", [Pure]> {
  let summary = "the maximum over the lanes of a query";
  let description = [{
    ```mlir
    %score = winnow.stage.reduce %best
    ```
  }];
  let arguments = (ins Winnow_Best:$best);
  let results = (outs Winnow_PageScore:$value);
  let assemblyFormat = "$best attr-dict";
}

def Winnow_ForceOp : Winnow_StageValueOp<"force", "forced", [Pure]> {
  let summary = "replaces the score of blocks that are always kept";
  let description = [{
    Local blocks before initial ones.

    ```mlir
    %forced = winnow.stage.force %score, %task at %page
    ```
  }];
  let arguments = (ins Winnow_PageScore:$value, Winnow_ScoreTask:$task,
                       Winnow_Page:$page);
  let results = (outs Winnow_PageScore:$forced);
  let assemblyFormat = "$value `,` $task `at` $page attr-dict";
}

def Winnow_StoreScoreOp : Winnow_StageOp<"store_score"> {
  let summary = "stores a block's score for every row that sees it";
  let description = [{
    Entries past a row's reach stay as they were.

    ```mlir
    winnow.stage.store_score %forced, %task at %page into %score : memref<1x?x8192xf32>
    ```
  }];
  let arguments = (ins Winnow_PageScore:$score, Winnow_ScoreTask:$task,
                       Winnow_Page:$page,
                       Arg<AnyMemRef, "scores", [MemWrite]>:$scores);
  let assemblyFormat = [{
    $score `,` $task `at` $page `into` $scores attr-dict `:` type($scores)
  }];
}

//===----------------------------------------------------------------------===//
// Stages of selection
//===----------------------------------------------------------------------===//

def Winnow_SelectRowOp : Winnow_StageValueOp<"select_row", "row"> {
  let summary = "which (row, index head) a workgroup selects for";
  let description = [{
    ```mlir
    %row = winnow.stage.select_row %lens : memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "lengths", [MemRead]>:$seq_lens);
  let results = (outs Winnow_RowTask:$row);
  let assemblyFormat = "$seq_lens attr-dict `:` type($seq_lens)";
}

def Winnow_LoadScoreRowOp : Winnow_StageValueOp<"load_score_row", "scores"> {
  let summary = "loads the scores of a row as keys that order like them";
  let description = [{
    A NaN counts as `-inf`; `+0.0` ranks above `-0.0`. Entries past the row's
    reach are not read.

    ```mlir
    %scores = winnow.stage.load_score_row %score for %row : memref<1x?x8192xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "scores", [MemRead]>:$scores,
                       Winnow_RowTask:$row);
  let results = (outs Winnow_ScoreRow:$keys);
  let assemblyFormat = "$scores `for` $row attr-dict `:` type($scores)";
}

def Winnow_NarrowOp : Winnow_StageValueOp<"narrow", "candidates"> {
  let summary = "narrows a row to the few candidates that one wave can sort";
  let description = [{
    A lower bound of the least score that is kept, taken from the largest scores
    of the lanes, leaves few enough nearly always; otherwise it is raised until
    what is left fits, or all of it ties. Exact for any ties: those are settled
    by the blocks' numbers.

    ```mlir
    %candidates = winnow.stage.narrow %scores for %row
    ```
  }];
  let arguments = (ins Winnow_ScoreRow:$keys, Winnow_RowTask:$row);
  let results = (outs Winnow_Candidates:$candidates);
  let assemblyFormat = "$keys `for` $row attr-dict";
}

def Winnow_RankOp : Winnow_StageValueOp<"rank", "ranking"> {
  let summary = "puts the candidates into their final order";
  let description = [{
    ```mlir
    %ranking = winnow.stage.rank %candidates for %row
    ```
  }];
  let arguments = (ins Winnow_Candidates:$candidates, Winnow_RowTask:$row);
  let results = (outs Winnow_Ranking:$ranking);
  let assemblyFormat = "$candidates `for` $row attr-dict";
}

def Winnow_StoreRankingOp : Winnow_StageOp<"store_selection"> {
  let summary = "stores the selected block numbers";
  let description = [{
    `head_axis` and `row_axis` say which axis of the destination counts index
    heads and which rows.

    ```mlir
    winnow.stage.store_selection %ranking for %row into %idx {head_axis = 0 : i64, row_axis = 1 : i64} : memref<1x?x16xi32>
    ```
  }];
  let arguments = (ins Winnow_Ranking:$ranking, Winnow_RowTask:$row,
                       Arg<AnyMemRef, "selection", [MemWrite]>:$indices,
                       I64Attr:$head_axis, I64Attr:$row_axis);
  let assemblyFormat = [{
    $ranking `for` $row `into` $indices attr-dict `:` type($indices)
  }];
  let hasVerifier = 1;
}

def Winnow_EmitPagesOp : Winnow_StageOp<"emit_pages"> {
  let summary = "writes the page table rows and context lengths of a row";
  let description = [{
    The rows of all kv heads that the workgroup's index head serves.

    ```mlir
    winnow.stage.emit_pages %ranking for %row via %attn_table into %pages, %ctx : memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
    ```
  }];
  let arguments = (ins Winnow_Ranking:$ranking, Winnow_RowTask:$row,
                       Arg<AnyMemRef, "block table", [MemRead]>:$table,
                       Arg<AnyMemRef, "pages", [MemWrite]>:$pages,
                       Arg<AnyMemRef, "context lengths", [MemWrite]>:$context_lens);
  let assemblyFormat = [{
    $ranking `for` $row `via` $table `into` $pages `,` $context_lens attr-dict
    `:` type($table) `,` type($pages) `,` type($context_lens)
  }];
}

//===----------------------------------------------------------------------===//
// Candidates that ranks exchange
//===----------------------------------------------------------------------===//

def Winnow_StoreCandidatesStageOp : Winnow_StageOp<"store_candidates"> {
  let summary = "stores the selected blocks and their scores for other ranks";
  let description = [{
    The scores are read once more: a ranking knows blocks alone.

    ```mlir
    winnow.stage.store_candidates %ranking for %row of %score into %ids, %best : memref<1x?x1024xf32>, memref<1x?x16xi32>, memref<1x?x16xf32>
    ```
  }];
  let arguments = (ins Winnow_Ranking:$ranking, Winnow_RowTask:$row,
                       Arg<AnyMemRef, "scores", [MemRead]>:$scores,
                       Arg<AnyMemRef, "block numbers", [MemWrite]>:$ids,
                       Arg<AnyMemRef, "their scores", [MemWrite]>:$best);
  let assemblyFormat = [{
    $ranking `for` $row `of` $scores `into` $ids `,` $best attr-dict
    `:` type($scores) `,` type($ids) `,` type($best)
  }];
}

def Winnow_LoadCandidatesOp
    : Winnow_StageValueOp<"load_candidates", "scores"> {
  let summary = "loads what all ranks selected for a row, as keys";
  let description = [{
    In the place of the scores of the row's blocks. A number that is negative or
    past the row's reach is no candidate.

    ```mlir
    %scores = winnow.stage.load_candidates %ids, %best for %row : memref<8x1x?x16xi32>, memref<8x1x?x16xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "block numbers", [MemRead]>:$ids,
                       Arg<AnyMemRef, "their scores", [MemRead]>:$best,
                       Winnow_RowTask:$row);
  let results = (outs Winnow_ScoreRow:$keys);
  let assemblyFormat = [{
    $ids `,` $best `for` $row attr-dict `:` type($ids) `,` type($best)
  }];
}

#endif // WINNOW_IR_WINNOWPLANOPS_TD
