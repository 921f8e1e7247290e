// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memrefs that operations take. Extents that have to agree between operands
// are checked by the operations' verifiers; here is what holds for one alone.
#ifndef WINNOW_IR_WINNOWMEMREFS_TD
#define WINNOW_IR_WINNOWMEMREFS_TD

include "mlir/IR/OpBase.td"

class Winnow_MemRef<int rank, string shape, list<Type> elements, string what>
    : Type<And<[CPred<"::winnow::isRowMemRef($_self, " # rank # ")">,
                Concat<"[](::mlir::Type elementType) { return ",
                       SubstLeaves<"$_self", "elementType",
                                   Or<!foreach(e, elements, e.predicate)>>,
                       "; }(::llvm::cast<::mlir::ShapedType>($_self)"
                       ".getElementType())">]>,
           what # ", a memref " # shape # " of " #
               !interleave(!foreach(e, elements, e.summary), " or ") #
               ", strided, contiguous along its last axis, in the default "
               "memory space",
           "::mlir::MemRefType">;

// Spelled as in MLIR's text, so that a diagnostic can be pasted back.
class Winnow_Element<Type type, string spelling>
    : Type<type.predicate, spelling>;
def Winnow_I32 : Winnow_Element<I32, "i32">;
def Winnow_F8E4M3FN : Winnow_Element<F8E4M3FN, "f8E4M3FN">;
def Winnow_F8E5M2 : Winnow_Element<F8E5M2, "f8E5M2">;
def Winnow_BF16 : Winnow_Element<BF16, "bf16">;
def Winnow_F16 : Winnow_Element<F16, "f16">;
def Winnow_F32 : Winnow_Element<F32, "f32">;
defvar Winnow_KeyElements = [Winnow_F8E4M3FN, Winnow_F8E5M2, Winnow_BF16,
                             Winnow_F16];

def Winnow_Lens : Winnow_MemRef<1, "[requests]", [Winnow_I32],
                                "sequence lengths">;
def Winnow_CuSeqlens : Winnow_MemRef<1, "[requests + 1]", [Winnow_I32],
                                     "row offsets">;
def Winnow_Slots : Winnow_MemRef<1, "[tokens]", [Winnow_I32],
                                 "cache slots">;
def Winnow_NewKeys : Winnow_MemRef<2, "[tokens, head_dim]",
                                   [Winnow_F32, Winnow_BF16, Winnow_F16],
                                   "new keys">;
def Winnow_KeyCache : Winnow_MemRef<
    3, "[pages, block_size, head_dim]",
    [Winnow_F8E4M3FN, Winnow_BF16, Winnow_F16], "a key cache">;
def Winnow_BlockTable : Winnow_MemRef<2, "[requests, blocks]", [Winnow_I32],
                                      "a block table">;
def Winnow_Query : Winnow_MemRef<3, "[rows, heads, head_dim]",
                                 Winnow_KeyElements, "index queries">;
def Winnow_Keys : Winnow_MemRef<3, "[pages, block_size, head_dim]",
                                Winnow_KeyElements, "an index key cache">;
def Winnow_Indices : Winnow_MemRef<
    3, "[heads, rows, k] or [rows, heads, k]", [Winnow_I32],
    "selected blocks">;
def Winnow_CandidateScores : Winnow_MemRef<3, "[heads, rows, k]", [Winnow_F32],
                                           "scores of selected blocks">;
def Winnow_RankIds : Winnow_MemRef<4, "[world, heads, rows, k]", [Winnow_I32],
                                   "blocks that ranks selected">;
def Winnow_RankScores : Winnow_MemRef<4, "[world, heads, rows, k]",
                                      [Winnow_F32], "scores of those blocks">;
def Winnow_PageTable : Winnow_MemRef<2, "[rows * kv_heads, entries]",
                                     [Winnow_I32], "a page table">;
def Winnow_ContextLens : Winnow_MemRef<1, "[rows * kv_heads]", [Winnow_I32],
                                       "context lengths">;

#endif // WINNOW_IR_WINNOWMEMREFS_TD
