// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: winnow-opt %s --winnow-verify-contract
// RUN: winnow-opt %s --winnow-verify-contract=arch=gfx950
// RUN: winnow-opt %s --winnow-verify-contract=arch=
// RUN: not winnow-opt %s --winnow-verify-contract=arch=gfx942 2>&1 | FileCheck %s --check-prefixes=GFX942 --implicit-check-not=error:
// RUN: not winnow-opt %s --winnow-verify-contract=arch=sm_90 2>&1 | FileCheck %s --check-prefixes=CUDA --implicit-check-not=error:
// RUN: winnow-opt %s --winnow-select-lowering=arch=gfx90a | FileCheck %s --check-prefix=LOWER
// RUN: winnow-opt %s --winnow-select-lowering=arch=sm_90 | FileCheck %s --check-prefix=SM90
// RUN: not winnow-opt %s --winnow-select-lowering=arch=sm_80 2>&1 | FileCheck %s --check-prefix=SM80

// The target is an option of the passes; an empty one is known at run time only,
// so its limits wait.

// GFX942: target.mlir:[[@LINE+13]]:1: error: contract 'aiter_msa', limit 'arch': architecture is gfx942, needed gfx950 (the score kernels read OCP fp8 with gfx950's matrix instructions)
// CUDA: target.mlir:[[@LINE+12]]:1: error: contract 'aiter_msa', limit 'platform': platform is cuda, needed rocm (AITER's kernels are built for AMD GPUs alone)
// CUDA: target.mlir:[[@LINE+11]]:1: error: contract 'aiter_msa', limit 'arch': architecture is sm_90, needed gfx950
// LOWER: winnow.block_score {{.*}} winnow.lowering = "generic", winnow.refusals = {mfma = ["contract 'winnow_mfma', limit 'arch': architecture is gfx90a, needed one of gfx950, gfx942 (the kernels use its MFMAs: 16x16x128 f8f6f4 and 16x16x32 on gfx950, 16x16x16 on gfx942, where e4m3 becomes f16)"]}}
// LOWER: winnow.topk {{.*}} winnow.lowering = "generic", winnow.refusals = {mfma = ["contract 'winnow_mfma', limit 'select_arch': architecture is gfx90a, needed one of gfx950, gfx942 (the selection exchanges lanes as its waves of 64 can)"]}}

// SM90: winnow.block_score {{.*}} winnow.lowering = "mma"
// SM90: winnow.topk {{.*}} winnow.lowering = "mma"
// SM80: target.mlir:[[@LINE+5]]:1: error: no lowering takes 'target'
// SM80: note: 'mma' refuses 'winnow.block_score': contract 'winnow_mma', limit 'arch': architecture is sm_80, needed sm_90
// SM80: note: 'generic' refuses 'winnow.block_score': contract 'winnow_generic', limit 'arch': architecture is sm_80, needed one of gfx90a, gfx942, gfx950, gfx1100, gfx1201, sm_90
// SM80: note: 'generic' refuses 'winnow.topk': contract 'winnow_generic', limit 'arch'

func.func @target(
    %q: memref<?x1x128xf8E4M3FN>,
    %keys: memref<?x128x128xf8E4M3FN>,
    %table: memref<?x?xi32>,
    %lens: memref<?xi32>,
    %idx: memref<1x?x16xi32>)
    attributes {winnow.entry, winnow.contract = "aiter_msa",
                winnow.bounds = {max_seq_len = 4096, max_requests = 4}} {
  %rows = winnow.uniform_rows %lens {query_len = 1} : memref<?xi32>
  %scores = winnow.block_score %q, %keys[%table] on %rows {reduce = max}
      : memref<?x1x128xf8E4M3FN>, memref<?x128x128xf8E4M3FN>,
        memref<?x?xi32>, !winnow.rows<query_len = 1>
  %selection = winnow.topk %scores {k = 16}
      : !winnow.scores<query_len = 1, heads = 1, block_size = 128>
  winnow.store_selection %selection, %idx
      : !winnow.selection<query_len = 1, heads = 1, block_size = 128, k = 16>,
        memref<1x?x16xi32>
  return
}
