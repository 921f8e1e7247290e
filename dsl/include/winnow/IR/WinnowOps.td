// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The operations of a description. Operations of kernel plans have a file of
// their own.
#ifndef WINNOW_IR_WINNOWOPS_TD
#define WINNOW_IR_WINNOWOPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "winnow/IR/WinnowMemRefs.td"
include "winnow/IR/WinnowTypes.td"

def Winnow_DescriptionGroup : OpDocGroup {
  let summary = "Operations of descriptions";
  let description = [{
    What an indexer computes.
  }];
}

// An operation with options in braces. `arguments` has to end in
// `optionArguments`, the assembly format to hold
// `custom<Options>(prop-dict, attr-dict, "optionsOf<TheOp>()")`, and verify()
// to begin with `verifyOptions(*this, getOptionSpecs())`.
class Winnow_Op<string mnemonic, list<Winnow_Option> optionList,
                list<Trait> traits = []>
    : Op<Winnow_Dialect, mnemonic, traits> {
  let opDocGroup = Winnow_DescriptionGroup;
  dag optionArguments = !dag(ins, !foreach(o, optionList, o.attr),
                             !foreach(o, optionList, o.name));
  let extraClassDeclaration = Winnow_OptionSpecs<optionList>.decl;
  let hasVerifier = 1;
}

// An operation whose one result is an opaque value with an inferred type.
class Winnow_ValueOp<string mnemonic, list<Winnow_Option> optionList,
                     list<Trait> traits = []>
    : Winnow_Op<mnemonic, optionList,
                !listconcat(traits, [InferTypeOpAdaptor,
                  DeclareOpInterfaceMethods<OpAsmOpInterface,
                                            ["getAsmResultNames"]>])>;

def Winnow_UniformRowsOp : Winnow_ValueOp<"uniform_rows", [Winnow_QueryLen]> {
  let summary = "the rows of a batch in which every request has query_len rows";
  let description = [{
    Decode and speculative decode: request `r` has the rows
    `r * query_len ... (r + 1) * query_len - 1`, its newest tokens. With
    `L = lens[r]` tokens in its cache (the new ones included), its row `t` may
    see `max(L - query_len + t + 1, 0)` tokens. A row that sees none is a padding
    row: it selects nothing and reads nothing. A negative length counts as 0.

    `lens` is `[requests]`, i32, in tokens.

    ```mlir
    func.func @rows(%lens: memref<?xi32>) {
      %rows = winnow.uniform_rows %lens {query_len = 4} : memref<?xi32>
      return
    }
    ```
  }];
  let arguments = !con(
      (ins Arg<Winnow_Lens, "tokens in each request's cache", [MemRead]>:$lens),
      optionArguments);
  let results = (outs Winnow_Rows:$rows);
  let assemblyFormat = [{
    $lens custom<Options>(prop-dict, attr-dict, "optionsOf<UniformRowsOp>()")
    `:` type($lens)
  }];
}

def Winnow_RaggedRowsOp : Winnow_ValueOp<"ragged_rows", []> {
  let summary = "the rows of a batch in which requests differ in their rows";
  let description = [{
    Prefill and mixed batches: request `r` has the rows
    `cu_seqlens[r] ... cu_seqlens[r + 1] - 1`, its newest tokens; it may have
    none. With `L = lens[r]` tokens in its cache (the new ones included) and
    `Q = cu_seqlens[r + 1] - cu_seqlens[r]` rows, its row `t` may see
    `max(L - Q + t + 1, 0)` tokens. A row that sees none is a padding row: it
    selects nothing and reads nothing. A negative length counts as 0.

    `lens` is `[requests]`, i32, in tokens; `cu_seqlens` is `[requests + 1]`,
    i32, starts at 0, never falls and ends with the number of rows. The entry's
    bounds have to give `max_query_len` and `max_rows`.

    Refused: a static extent of `cu_seqlens` that is not one more than that of
    `lens`.

    ```mlir
    func.func @rows(%lens: memref<?xi32>, %cu_seqlens: memref<?xi32>) {
      %rows = winnow.ragged_rows %lens, %cu_seqlens
          : memref<?xi32>, memref<?xi32>
      return
    }
    ```
  }];
  let arguments = (ins
      Arg<Winnow_Lens, "tokens in each request's cache", [MemRead]>:$lens,
      Arg<Winnow_CuSeqlens, "the first row of each request, then the number "
                            "of rows", [MemRead]>:$cu_seqlens);
  let results = (outs Winnow_Rows:$rows);
  // Without options there is nothing for the shared parser to do.
  let extraClassDeclaration = "";
  let assemblyFormat = [{
    $lens `,` $cu_seqlens attr-dict `:` type($lens) `,` type($cu_seqlens)
  }];
}

def Winnow_BlockScoreOp : Winnow_ValueOp<"block_score", [
    Winnow_EnumOptionOr<"reduce", Winnow_TokenReductionAttr, "Max">,
    Winnow_IntOptionOr<"init_blocks", 0, 2147483647, 0,
                       "first blocks that are forced">,
    Winnow_IntOptionOr<"local_blocks", 0, 2147483647, 0,
                       "last visible blocks that are forced">,
    Winnow_IntOptionOr<"rank", 0, 1023, 0, "which shard of the blocks">,
    Winnow_IntOptionOr<"world", 1, 1024, 1, "how many shards there are">]> {
  let summary = "score every block that a row may see";
  let description = [{
    The score of block `b` for index head `h` of row `n`, a row of request `r`,
    is the largest (`reduce = max`), the sum or the mean of

        dot(query[n, h, :], keys[index_table[r, b], i, :])

    over the tokens `i` of the block that the row may see. Products are exact,
    accumulation is fp32. A NaN never wins a maximum; a block all of whose
    visible tokens give NaN scores -inf. A negative entry of the table marks a
    block that is not in memory: it scores -inf, forced or not, and nothing is
    read for it.

    Forced blocks are decided afterwards: the last `local_blocks` blocks that a
    row sees score 1e29, any other of its first `init_blocks` blocks 1e30.

    **Shards.** Of `world` ranks that share the blocks of every sequence, a rank
    scores the blocks `b` with `b mod world = rank`. Causal lengths and forced
    blocks are decided on `b`; a selection holds `b` too. What the ranks select
    is brought together by `store_candidates` and `merge_candidates`. A
    `remap_pages` of a rank's own selection names that rank's blocks alone.

    | operand | shape | type |
    | --- | --- | --- |
    | `query` | `[rows, heads, head_dim]` | f8E4M3FN, f8E5M2, bf16 or f16 |
    | `keys` | `[pages, block_size, head_dim]` | that of the query |
    | `index_table` | `[requests, blocks]` | i32, the page of each block |

    `heads` (1 to 128), `block_size` (1 to 65536) and `head_dim` (a multiple of
    8, at most 4096) are static. Refused as well: a head dim or number format
    that differs between query and keys; a static number of rows that is not
    `query_len` for each request; a table with a static number of rows smaller
    than the requests; a `rank` that is not below `world`.

    ```mlir
    func.func @score(%q: memref<?x4x128xbf16>, %keys: memref<?x64x128xbf16>,
                     %table: memref<?x?xi32>,
                     %rows: !winnow.rows<query_len = 1>) {
      %scores = winnow.block_score %q, %keys[%table] on %rows
          {reduce = max, init_blocks = 1, local_blocks = 2, rank = 0, world = 1}
          : memref<?x4x128xbf16>, memref<?x64x128xbf16>, memref<?x?xi32>,
            !winnow.rows<query_len = 1>
      return
    }
    ```
  }];
  let arguments = !con(
      (ins Arg<Winnow_Query, "index queries", [MemRead]>:$query,
           Arg<Winnow_Keys, "index key cache", [MemRead]>:$keys,
           Arg<Winnow_BlockTable, "page of each block", [MemRead]>:$index_table,
           Winnow_Rows:$rows), optionArguments);
  let results = (outs Winnow_Scores:$scores);
  let assemblyFormat = [{
    $query `,` $keys `[` $index_table `]` `on` $rows
    custom<Options>(prop-dict, attr-dict, "optionsOf<BlockScoreOp>()")
    `:` type($query) `,` type($keys) `,` type($index_table) `,`
        qualified(type($rows))
  }];
}

def Winnow_TopKOp : Winnow_ValueOp<"topk", [
    Winnow_K,
    Winnow_EnumOptionOr<"ties", Winnow_TieRuleAttr, "HighestBlock">,
    Winnow_EnumOptionOr<"order", Winnow_SelectionOrderAttr, "ScoreDescending">], [Pure]> {
  let summary = "keep the k best blocks of each (index head, row)";
  let description = [{
    Candidates are the blocks that the row may see. Higher scores first; of equal
    scores the higher or the lower block number, as `ties` says. A NaN counts as
    -inf, a -inf block is still a candidate, +0.0 ranks above -0.0. Forced blocks
    count inside `k`. A row with fewer candidates keeps them all.

    `order` says how the kept blocks are listed: best first
    (`score_descending`) or by ascending block number (`ascending`). The result
    is fully determined by the scores.

    ```mlir
    func.func @keep(%scores: !winnow.scores<query_len = 1, heads = 4,
                                            block_size = 64>) {
      %selection = winnow.topk %scores
          {k = 16, ties = lowest_block, order = ascending}
          : !winnow.scores<query_len = 1, heads = 4, block_size = 64>
      return
    }
    ```
  }];
  let arguments = !con((ins Winnow_Scores:$scores), optionArguments);
  let results = (outs Winnow_Selection:$selection);
  let assemblyFormat = [{
    $scores custom<Options>(prop-dict, attr-dict, "optionsOf<TopKOp>()")
    `:` qualified(type($scores))
  }];
}

def Winnow_StoreCandidatesOp : Winnow_Op<"store_candidates", []> {
  let summary = "write a rank's selected blocks and their scores";
  let description = [{
    What a rank hands to the others: the block numbers, -1 in the places past the
    last, and the score of each, -inf there. A score that is NaN is handed on as
    -inf, which it counts as. The selection comes from a `topk` of the same
    function, whose scores these are.

    `ids` is i32 and `scores` f32, both `[heads, rows, k]`; `heads` and `k` are
    static and those of the selection.

    ```mlir
    func.func @candidates(%scores: !winnow.scores<query_len = 1, heads = 4,
                                                  block_size = 64>,
                          %ids: memref<4x?x16xi32>, %best: memref<4x?x16xf32>) {
      %selection = winnow.topk %scores {k = 16}
          : !winnow.scores<query_len = 1, heads = 4, block_size = 64>
      winnow.store_candidates %selection, %ids, %best
          : !winnow.selection<query_len = 1, heads = 4, block_size = 64, k = 16>,
            memref<4x?x16xi32>, memref<4x?x16xf32>
      return
    }
    ```
  }];
  let arguments = (ins
      Winnow_Selection:$selection,
      Arg<Winnow_Indices, "block numbers", [MemWrite]>:$ids,
      Arg<Winnow_CandidateScores, "their scores", [MemWrite]>:$scores);
  // Without options there is nothing for the shared parser to do.
  let extraClassDeclaration = "";
  let assemblyFormat = [{
    $selection `,` $ids `,` $scores attr-dict
    `:` qualified(type($selection)) `,` type($ids) `,` type($scores)
  }];
}

def Winnow_MergeCandidatesOp : Winnow_ValueOp<"merge_candidates", [
    Winnow_BlockSize, Winnow_K,
    Winnow_EnumOptionOr<"ties", Winnow_TieRuleAttr, "HighestBlock">,
    Winnow_EnumOptionOr<"order", Winnow_SelectionOrderAttr, "ScoreDescending">]> {
  let summary = "keep the k best of what all ranks selected";
  let description = [{
    From the candidates of `world` ranks, gathered by the caller, the selection
    that one rank with all blocks would have made, bit for bit: scores and ties
    order as in `topk`, and no block is the candidate of two ranks. An id that is
    negative, or past the blocks that the row sees, is no candidate.

    `ids` (i32) and `scores` (f32) are `[world, heads, rows, n]`, with a static
    `n` of at least `k`: what `store_candidates` of each rank wrote. Refused: an
    extent that differs between the two; a static number of rows that is not that
    of the rows; an entry that has a `block_score` as well, since the ranks
    exchange their candidates between the two.

    ```mlir
    func.func @merge(%ids: memref<8x1x?x16xi32>, %scores: memref<8x1x?x16xf32>,
                     %rows: !winnow.rows<query_len = 1>) {
      %selection = winnow.merge_candidates %ids, %scores on %rows
          {block_size = 128, k = 16, ties = highest_block,
           order = score_descending}
          : memref<8x1x?x16xi32>, memref<8x1x?x16xf32>,
            !winnow.rows<query_len = 1>
      return
    }
    ```
  }];
  let arguments = !con(
      (ins Arg<Winnow_RankIds, "blocks of all ranks", [MemRead]>:$ids,
           Arg<Winnow_RankScores, "their scores", [MemRead]>:$scores,
           Winnow_Rows:$rows), optionArguments);
  let results = (outs Winnow_Selection:$selection);
  let assemblyFormat = [{
    $ids `,` $scores `on` $rows
    custom<Options>(prop-dict, attr-dict, "optionsOf<MergeCandidatesOp>()")
    `:` type($ids) `,` type($scores) `,` qualified(type($rows))
  }];
}

def Winnow_StoreSelectionOp : Winnow_Op<"store_selection", [
    Winnow_EnumOptionOr<"layout", Winnow_SelectionLayoutAttr, "HeadMajor">,
    Winnow_IntOptionOr<"pad", -1, 0, -1, "what fills unused places">]> {
  let summary = "write the selected block numbers to memory";
  let description = [{
    Writes the logical block numbers of every row and index head, `pad` in the
    places past the last. `indices` is i32, `[heads, rows, k]` with
    `layout = head_major` and `[rows, heads, k]` with `token_major`; `heads` and
    `k` are static and those of the selection, so that the two layouts cannot be
    taken for each other. A static number of rows has to be that of the rows.

    ```mlir
    func.func @store(%selection: !winnow.selection<query_len = 1, heads = 4,
                                                   block_size = 64, k = 16>,
                     %indices: memref<?x4x16xi32, strided<[128, 32, 1]>>) {
      winnow.store_selection %selection, %indices {layout = token_major, pad = -1}
          : !winnow.selection<query_len = 1, heads = 4, block_size = 64, k = 16>,
            memref<?x4x16xi32, strided<[128, 32, 1]>>
      return
    }
    ```
  }];
  let arguments = !con(
      (ins Winnow_Selection:$selection,
           Arg<Winnow_Indices, "block numbers", [MemWrite]>:$indices),
      optionArguments);
  let assemblyFormat = [{
    $selection `,` $indices
    custom<Options>(prop-dict, attr-dict, "optionsOf<StoreSelectionOp>()")
    `:` qualified(type($selection)) `,` type($indices)
  }];
}

def Winnow_RemapPagesOp : Winnow_Op<"remap_pages", [
    Winnow_IntOption<"pages_per_block", 1, 65536,
                     "pages that the attention counts in a block">,
    Winnow_IntOption<"kv_heads", 1, 65536, "the attention's kv heads">,
    Winnow_IntOptionOr<"pad", -1, 0, 0, "what fills unused entries">,
    Winnow_IntOptionOr<"table_sides", 1, 1024, 1,
                       "sides that the table was scaled by beforehand">]> {
  let summary = "write the page table and context lengths of the selection";
  let description = [{
    For each row `n` and kv head `g`, row `n * kv_heads + g` of `pages` names the
    pages that the attention reads and `context_lens[n * kv_heads + g]` their
    tokens. Index head `h` serves `kv_heads / heads` consecutive kv heads.

    Selected blocks are resolved through the attention's own block table; one
    that is not mapped there (a negative entry) is dropped. Blocks that the row
    sees whole come first, in selection order; the row's last block follows them,
    whatever its rank was. A block in slot `s` fills entry
    `s * pages_per_block + j` with

        table[r, b] * pages_per_block * kv_heads + g + j * kv_heads

    for every page `j` of the block; entries past the last block are `pad`.
    `table_sides` changes no number: it says that the entry is handed a table
    that a `rebase_table` elsewhere has scaled already, so that the pages which a
    block spans are known (see `block_pages` of the entry).

    | operand | shape | type |
    | --- | --- | --- |
    | `attention_table` | `[requests, blocks]` | i32 |
    | `pages` | `[rows * kv_heads, >= k * pages_per_block]` | i32 |
    | `context_lens` | `[rows * kv_heads]` | i32, tokens |

    Refused: `kv_heads` that is no multiple of the selection's index heads;
    `pages_per_block` that does not divide the block size; a static extent that
    is too small or disagrees with another.

    ```mlir
    func.func @remap(%selection: !winnow.selection<query_len = 1, heads = 1,
                                                   block_size = 128, k = 16>,
                     %table: memref<?x?xi32>, %pages: memref<?x128xi32>,
                     %ctx: memref<?xi32>) {
      winnow.remap_pages %selection via %table into %pages, %ctx
          {pages_per_block = 8, kv_heads = 2, pad = 0, table_sides = 1}
          : !winnow.selection<query_len = 1, heads = 1, block_size = 128,
                              k = 16>,
            memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
      return
    }
    ```
  }];
  let arguments = !con(
      (ins Winnow_Selection:$selection,
           Arg<Winnow_BlockTable, "the attention's block table",
               [MemRead]>:$attention_table,
           Arg<Winnow_PageTable, "page numbers", [MemWrite]>:$pages,
           Arg<Winnow_ContextLens, "tokens of the pages",
               [MemWrite]>:$context_lens), optionArguments);
  let assemblyFormat = [{
    $selection `via` $attention_table `into` $pages `,` $context_lens
    custom<Options>(prop-dict, attr-dict, "optionsOf<RemapPagesOp>()")
    `:` qualified(type($selection)) `,` type($attention_table) `,`
        type($pages) `,` type($context_lens)
  }];
}

//===----------------------------------------------------------------------===//
// Once a step: tables, slots and keys of the caches
//===----------------------------------------------------------------------===//

// What an operation of a step writes, the operations after it in the entry may
// read; each is a launch of its own, before those of the indexer.

def Winnow_RebaseTableOp : Winnow_Op<"rebase_table", [Winnow_Sides]> {
  let summary = "scale a block table for a cache of several sides";
  let description = [{
    A cache that interleaves the keys and values of a block (two sides) spans
    `sides * pages_per_block` pages a block, while `remap_pages` multiplies by
    `pages_per_block`: its table is scaled once a step.

        output[r, j] = input[r, j] * sides

    A negative entry scales as well: -1 becomes -2. What does not fit 32 bits
    wraps, as nothing may reach such an entry.

    `input` and `output` are block tables `[requests, blocks]`, i32; they may be
    the same. Refused: an output with a static extent smaller than the input's.

    ```mlir
    func.func @rebase(%table: memref<?x?xi32>, %scaled: memref<?x?xi32>) {
      winnow.rebase_table %table, %scaled {sides = 2}
          : memref<?x?xi32>, memref<?x?xi32>
      return
    }
    ```
  }];
  let arguments = !con(
      (ins Arg<Winnow_BlockTable, "page of each block", [MemRead]>:$input,
           Arg<Winnow_BlockTable, "the scaled table", [MemWrite]>:$output),
      optionArguments);
  let assemblyFormat = [{
    $input `,` $output
    custom<Options>(prop-dict, attr-dict, "optionsOf<RebaseTableOp>()")
    `:` type($input) `,` type($output)
  }];
}

def Winnow_RebaseSlotsOp : Winnow_Op<"rebase_slots",
                                     [Winnow_BlockSize, Winnow_Sides]> {
  let summary = "move slots to the first side of their blocks";
  let description = [{
    A slot is a token's place in a cache: page times `block_size` plus its place
    in the block. In a cache of several sides,

        output[i] = input[i] + input[i] / block_size * block_size * (sides - 1)

    A negative slot, which names no place, stays as it is.

    `input` and `output` are `[tokens]`, i32; they may be the same. Refused: an
    output with a static extent smaller than the input's.

    ```mlir
    func.func @rebase(%slots: memref<?xi32>) {
      winnow.rebase_slots %slots, %slots {block_size = 128, sides = 2}
          : memref<?xi32>, memref<?xi32>
      return
    }
    ```
  }];
  let arguments = !con(
      (ins Arg<Winnow_Slots, "place of each token", [MemRead]>:$input,
           Arg<Winnow_Slots, "the moved slots", [MemWrite]>:$output),
      optionArguments);
  let assemblyFormat = [{
    $input `,` $output
    custom<Options>(prop-dict, attr-dict, "optionsOf<RebaseSlotsOp>()")
    `:` type($input) `,` type($output)
  }];
}

def Winnow_InsertKeysOp : Winnow_Op<"insert_keys", []> {
  let summary = "write new index keys into their cache";
  let description = [{
    For each new token `i` with `s = slots[i]` from 0 up:

        cache[s / block_size, s mod block_size, :] = convert(keys[i, :])

    A negative slot is skipped. Conversion rounds to nearest, ties to even; to
    f8E4M3FN it saturates at 448 in magnitude; a NaN stays a NaN. Slots that are
    not negative have to differ from each other.

    | operand | shape | type |
    | --- | --- | --- |
    | `keys` | `[tokens, head_dim]` | f32, bf16 or f16 |
    | `slots` | `[tokens]` | i32 |
    | `cache` | `[pages, block_size, head_dim]` | f8E4M3FN, bf16 or f16 |

    `block_size` (1 to 65536) and `head_dim` (a multiple of 8, at most 4096) are
    static. Refused as well: a head dim that differs between keys and cache;
    static numbers of keys and slots that differ; a cache whose rows overlap.

    ```mlir
    func.func @insert(%keys: memref<?x128xbf16>, %slots: memref<?xi32>,
                      %cache: memref<?x128x128xf8E4M3FN>) {
      winnow.insert_keys %keys, %slots, %cache
          : memref<?x128xbf16>, memref<?xi32>, memref<?x128x128xf8E4M3FN>
      return
    }
    ```
  }];
  let arguments = (ins
      Arg<Winnow_NewKeys, "a key for each new token", [MemRead]>:$keys,
      Arg<Winnow_Slots, "the place of each", [MemRead]>:$slots,
      Arg<Winnow_KeyCache, "where they go", [MemWrite]>:$cache);
  // Without options there is nothing for the shared parser to do.
  let extraClassDeclaration = "";
  let assemblyFormat = [{
    $keys `,` $slots `,` $cache attr-dict
    `:` type($keys) `,` type($slots) `,` type($cache)
  }];
}

#endif // WINNOW_IR_WINNOWOPS_TD
