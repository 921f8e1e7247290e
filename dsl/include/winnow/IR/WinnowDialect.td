// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect itself, and the base classes of its types and attributes.
#ifndef WINNOW_IR_WINNOWDIALECT_TD
#define WINNOW_IR_WINNOWDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Winnow_Dialect : Dialect {
  let name = "winnow";
  let cppNamespace = "::winnow";
  let summary = "Block-sparse attention indexers: score blocks of keys, keep "
                "the best, name their pages";
  let description = [{
    A *description* is a function that says what an indexer computes. Operands
    are memrefs with the static facts in their types (heads, head dim, block
    size, number format) and `?` for what a launch decides. What passes between
    operations is opaque (`!winnow.rows`, `!winnow.scores`,
    `!winnow.selection`): whether a score buffer exists at all is for the
    compiler to decide.

    ```mlir
    func.func @decode(%q: memref<?x1x128xf8E4M3FN>,
                      %keys: memref<?x128x128xf8E4M3FN>,
                      %table: memref<?x?xi32>, %lens: memref<?xi32>,
                      %idx: memref<1x?x16xi32>)
        attributes {winnow.entry, winnow.contract = "aiter_msa",
                    winnow.bounds = {max_seq_len = 1048576,
                                     max_requests = 256}} {
      %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
      %scores = winnow.block_score %q, %keys[%table] on %rows {local_blocks = 1}
        : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
          memref<?x?xi32>, !winnow.rows<query_len = 1>
      %selection = winnow.topk %scores {k = 16}
        : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
      winnow.store_selection %selection, %idx
        : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
          memref<1x?x16xi32>
      return
    }
    ```

    **Words.** A *request* is one sequence of the batch. A *row* is one query
    token. A *block* is `block_size` consecutive tokens of a request, numbered
    from 0; a *block table* says in which page of the cache it lies. An *index
    head* is one query head of the indexer; all share one key head. A *kv head*
    is a key-value head of the attention that reads the result.

    **Options.** The names in an operation's braces are its options: integers
    or keywords, in any order, each at most once. An option with a default may
    be left out, and the braces with it; printing shows every option, in the
    order of the operation's attribute table below. The same braces hold
    discardable attributes, whose names have a dot, as passes set them:
    `{k = 16, winnow.lowering = "mfma"}`.

    **Memory.** A memref has to be strided and contiguous along its last axis;
    its other axes may have any stride, so a slice of a larger buffer will do.
    It lies in the default memory space. Whether queries and keys have to be
    contiguous altogether is for a contract to say.

    **Entries.** A `func.func` is made a description by attributes:

    | attribute | value | |
    | --- | --- | --- |
    | `winnow.entry` | unit | marks the function |
    | `winnow.bounds` | `{max_seq_len, max_requests}`, integers from 1 to 2147483647; optionally `max_pages`, the blocks of the attention's cache; with ragged rows also `max_query_len`, the new tokens of one request, and `max_rows`, those of a batch | what a plan is made for; needed. With `max_pages`, page numbers that would not fit 32 bits are refused |
    | `winnow.contract` | string | the contract it has to keep, by name |
    | `winnow.attention` | `{kv_heads, page_size}`, integers from 1 to 65536; optionally `block_pages` | what the attention kernel reads: its key-value heads, the tokens of a page as it numbers them, and the pages that one block spans in its cache, all sides counted. `block_pages` has to be what `remap_pages` numbers: its `pages_per_block` times what its table is scaled by |
    | `winnow.schedule` | `{waves = 8, select = {slots = 4}, ...}` | sizes of kernels to fix, for all kernels that have such a one or, in `score` and `select` (a merge, too), for one; what is left out is chosen from the bounds |

    The parameters of a schedule are integers; the page on schedules
    (docs/tuning.md) lists them with their ranges, as an error lists those that
    there are. Which of them a kernel has, and which values go together, depends
    on its lowering and is checked when it is scheduled.

    Such a function is named by a C identifier, after which its kernels are
    named; it takes memrefs only and has no results. Its body is one block
    of operations of this dialect and a `return`. It writes something; it writes
    no memref twice, and none that it reads but by operations of a step
    (`rebase_table`, `rebase_slots`, `insert_keys`): what one of these writes, the
    operations after it read. A table with a static width has to
    hold a sequence of `max_seq_len` tokens.

    Passes set `winnow.facts` on an entry, `winnow.lowering`,
    `winnow.refusals` and `winnow.arch` on operations of the dialect, and on
    kernels `winnow.schedule` and `winnow.schedule_from`, which says where
    parameters come from that somebody fixed; on a launch `winnow.join`, which
    says that its kernel is to be joined to the one launched before. Any other
    attribute in the `winnow` name space is refused.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;

  let extraClassDeclaration = [{
    // Called by initialize(); each is defined beside what it registers.
    void registerTypes();
    void registerAttributes();
    void registerOperations();
  }];
}

class Winnow_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Winnow_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

#endif // WINNOW_IR_WINNOWDIALECT_TD
