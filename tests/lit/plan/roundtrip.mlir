// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation of a kernel plan prints as it parses.
// RUN: winnow-opt %s | winnow-opt | FileCheck %s

// CHECK-DAG: #[[$GRID:.+]] = affine_map<()[s0] -> (8, s0, 1)>
// CHECK-DAG: #[[$EXTENTS:.+]] = affine_map<()[s0] -> (1, s0, 8192)>

// CHECK-LABEL: winnow.kernel @score(
// CHECK-SAME:  %[[QUERY:.+]]: memref<?x1x128xf8E4M3FN>, %[[KEYS:.+]]: memref<?x128x128xf8E4M3FN>, %[[TABLE:.+]]: memref<?x?xi32>, %[[LENS:.+]]: memref<?xi32>, %[[SCORE:.+]]: memref<1x?x8192xf32>)
// CHECK-NEXT:  shape Score {kFlag = true, kHeads = 1, kOff = false, kPad = -1}
// CHECK-NEXT:  grid #[[$GRID]] waves 4 attributes {winnow.arch = "gfx950"} {
winnow.kernel @score(%query: memref<?x1x128xf8E4M3FN>, %keys: memref<?x128x128xf8E4M3FN>, %table: memref<?x?xi32>, %lens: memref<?xi32>, %scores: memref<1x?x8192xf32>)
    shape Score {kHeads = 1, kPad = -1, kFlag = true, kOff = false}
    grid affine_map<()[s0] -> (8, s0, 1)> waves 4
    attributes {winnow.arch = "gfx950"} {
  // CHECK: %[[TASK:.+]] = winnow.stage.score_task %[[LENS]] : memref<?xi32>
  %task = winnow.stage.score_task %lens : memref<?xi32>
  // CHECK: %[[FRAGMENT:.+]] = winnow.stage.load_query %[[QUERY]] for %[[TASK]] : memref<?x1x128xf8E4M3FN>
  %fragment = winnow.stage.load_query %query for %task : memref<?x1x128xf8E4M3FN>
  // CHECK: winnow.stage.walk_pages %[[PAGE:.+]] of %[[TASK]] via %[[TABLE]] : memref<?x?xi32> {
  winnow.stage.walk_pages %page of %task via %table : memref<?x?xi32> {
    // CHECK: %[[VALUE:.+]] = winnow.stage.if_mapped %[[PAGE]] {
    %value = winnow.stage.if_mapped %page {
      // CHECK: %[[BEST:.+]] = winnow.stage.walk_slices %[[SLICE:.+]] of %[[PAGE]] carry %[[RUNNING:.+]] slices 2 {
      %best = winnow.stage.walk_slices %slice of %page carry %running slices 2 {
        // CHECK: %[[TILES:.+]] = winnow.stage.load_key_tiles %[[KEYS]] at %[[SLICE]] : memref<?x128x128xf8E4M3FN>
        %tiles = winnow.stage.load_key_tiles %keys at %slice : memref<?x128x128xf8E4M3FN>
        // CHECK: %[[PRODUCTS:.+]] = winnow.stage.multiply_accumulate %[[TILES]], %[[FRAGMENT]]
        %products = winnow.stage.multiply_accumulate %tiles, %fragment
        // CHECK: %[[MASKED:.+]] = winnow.stage.mask %[[PRODUCTS]], %[[TASK]] at %[[SLICE]]
        %masked = winnow.stage.mask %products, %task at %slice
        // CHECK: %[[FOLDED:.+]] = winnow.stage.fold %[[MASKED]] into %[[RUNNING]]
        %folded = winnow.stage.fold %masked into %running
        // CHECK: winnow.stage.yield %[[FOLDED]] : !winnow.best
        winnow.stage.yield %folded : !winnow.best
      }
      // CHECK: %[[REDUCED:.+]] = winnow.stage.reduce %[[BEST]]
      %reduced = winnow.stage.reduce %best
      // CHECK: %[[FORCED:.+]] = winnow.stage.force %[[REDUCED]], %[[TASK]] at %[[PAGE]]
      %forced = winnow.stage.force %reduced, %task at %page
      // CHECK: winnow.stage.yield %[[FORCED]] : !winnow.page_score
      winnow.stage.yield %forced : !winnow.page_score
    }
    // CHECK: winnow.stage.store_score %[[VALUE]], %[[TASK]] at %[[PAGE]] into %[[SCORE]] : memref<1x?x8192xf32>
    winnow.stage.store_score %value, %task at %page into %scores : memref<1x?x8192xf32>
  }
}

// CHECK-LABEL: winnow.kernel @ragged_score(
// CHECK-SAME:  %[[QUERY:.+]]: memref<?x1x128xbf16>, %[[KEYS:.+]]: memref<?x128x128xbf16>, %[[TABLE:.+]]: memref<?x?xi32>, %[[LENS:.+]]: memref<?xi32>, %[[OFFSETS:.+]]: memref<?xi32>, %[[SCORE:.+]]: memref<1x?x8192xf32>)
winnow.kernel @ragged_score(%query: memref<?x1x128xbf16>, %keys: memref<?x128x128xbf16>, %table: memref<?x?xi32>, %lens: memref<?xi32>, %cu_seqlens: memref<?xi32>, %scores: memref<1x?x8192xf32>)
    shape Score {kHeads = 1}
    grid affine_map<()[s0, s1] -> (s1 floordiv 256 + s0, 256, 1)> waves 4 {
  // CHECK: %[[TASK:.+]] = winnow.stage.ragged_task %[[LENS]], %[[OFFSETS]] of %[[QUERY]] : memref<?xi32>, memref<?xi32>, memref<?x1x128xbf16>
  %task = winnow.stage.ragged_task %lens, %cu_seqlens of %query : memref<?xi32>, memref<?xi32>, memref<?x1x128xbf16>
  // CHECK: %[[FRAGMENT:.+]] = winnow.stage.load_query_tiles %[[QUERY]] for %[[TASK]] : memref<?x1x128xbf16>
  %fragment = winnow.stage.load_query_tiles %query for %task : memref<?x1x128xbf16>
  // CHECK: winnow.stage.walk_shared %[[PAGE:.+]] of %[[TASK]] via %[[TABLE]] from %[[KEYS]] : memref<?x?xi32>, memref<?x128x128xbf16> {
  winnow.stage.walk_shared %page of %task via %table from %keys : memref<?x?xi32>, memref<?x128x128xbf16> {
    // CHECK: %[[BEST:.+]] = winnow.stage.share_slices %[[SLICE:.+]] of %[[PAGE]] carry %[[RUNNING:.+]] slices 2 {
    %best = winnow.stage.share_slices %slice of %page carry %running slices 2 {
      // CHECK: %[[NEXT:.+]] = winnow.stage.score_slice %[[SLICE]] with %[[FRAGMENT]] of %[[TASK]] into %[[RUNNING]]
      %next = winnow.stage.score_slice %slice with %fragment of %task into %running
      // CHECK: winnow.stage.yield %[[NEXT]] : !winnow.best
      winnow.stage.yield %next : !winnow.best
    }
    %value = winnow.stage.if_mapped %page {
      // CHECK: %[[REDUCED:.+]] = winnow.stage.reduce_tiles %[[BEST]]
      %reduced = winnow.stage.reduce_tiles %best
      winnow.stage.yield %reduced : !winnow.page_score
    }
    winnow.stage.store_score %value, %task at %page into %scores : memref<1x?x8192xf32>
  }
}

// CHECK-LABEL: winnow.kernel @ragged_select(
winnow.kernel @ragged_select(%scores: memref<1x?x8192xf32>, %lens: memref<?xi32>, %cu_seqlens: memref<?xi32>)
    shape Select {kHeads = 1} grid affine_map<()[s0, s1] -> (s1, 1, 1)> waves 8 {
  // CHECK: winnow.stage.select_ragged_row %{{.+}}, %{{.+}} : memref<?xi32>, memref<?xi32>
  %row = winnow.stage.select_ragged_row %lens, %cu_seqlens : memref<?xi32>, memref<?xi32>
  %keys = winnow.stage.load_score_row %scores for %row : memref<1x?x8192xf32>
}

// CHECK-LABEL: winnow.kernel @select(
// CHECK-SAME:  %[[SCORE:.+]]: memref<1x?x8192xf32>, %[[LENS:.+]]: memref<?xi32>, %[[SELECTION:.+]]: memref<1x?x16xi32>, %[[TABLE:.+]]: memref<?x?xi32>, %[[PAGES:.+]]: memref<?x128xi32>, %[[CTX:.+]]: memref<?xi32>)
winnow.kernel @select(%scores: memref<1x?x8192xf32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>, %table: memref<?x?xi32>, %pages: memref<?x128xi32>, %ctx: memref<?xi32>)
    shape Select {kHeads = 1} grid affine_map<()[s0] -> (s0, 1, 1)> waves 8 {
  // CHECK: %[[ROW:.+]] = winnow.stage.select_row %[[LENS]] : memref<?xi32>
  %row = winnow.stage.select_row %lens : memref<?xi32>
  // CHECK: %[[KEYS:.+]] = winnow.stage.load_score_row %[[SCORE]] for %[[ROW]] : memref<1x?x8192xf32>
  %keys = winnow.stage.load_score_row %scores for %row : memref<1x?x8192xf32>
  // CHECK: %[[CANDIDATES:.+]] = winnow.stage.narrow %[[KEYS]] for %[[ROW]]
  %candidates = winnow.stage.narrow %keys for %row
  // CHECK: %[[RANKING:.+]] = winnow.stage.rank %[[CANDIDATES]] for %[[ROW]]
  %ranking = winnow.stage.rank %candidates for %row
  // CHECK: winnow.stage.store_selection %[[RANKING]] for %[[ROW]] into %[[SELECTION]] {head_axis = 0 : i64, row_axis = 1 : i64} : memref<1x?x16xi32>
  winnow.stage.store_selection %ranking for %row into %idx {head_axis = 0 : i64, row_axis = 1 : i64} : memref<1x?x16xi32>
  // CHECK: winnow.stage.emit_pages %[[RANKING]] for %[[ROW]] via %[[TABLE]] into %[[PAGES]], %[[CTX]] : memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  winnow.stage.emit_pages %ranking for %row via %table into %pages, %ctx : memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
}

// CHECK-LABEL: winnow.kernel @joined(
// CHECK-SAME:  %[[LENS:.+]]: memref<?xi32>, %[[ARRIVALS:.+]]: memref<?x2xi32>, %[[SCORE:.+]]: memref<1x?x64xf32>)
winnow.kernel @joined(%lens: memref<?xi32>, %counters: memref<?x2xi32>, %scores: memref<1x?x64xf32>)
    shape Decode {kArrivals = 2} grid affine_map<()[s0] -> (2, s0, 1)> waves 4 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
  // CHECK: winnow.stage.count_arrivals %[[ARRIVALS]] for %[[TASK:.+]] : memref<?x2xi32>, !winnow.score_task
  winnow.stage.count_arrivals %counters for %task : memref<?x2xi32>, !winnow.score_task
  // CHECK: winnow.stage.walk_rows %[[ROW:.+]] of %[[TASK]] via %[[LENS]] : !winnow.row_task, !winnow.score_task, memref<?xi32> {
  winnow.stage.walk_rows %row of %task via %lens : !winnow.row_task, !winnow.score_task, memref<?xi32> {
    // CHECK: winnow.stage.load_score_row %[[SCORE]] for %[[ROW]]
    %keys = winnow.stage.load_score_row %scores for %row : memref<1x?x64xf32>
  }
}

// CHECK-LABEL: func.func @launches
func.func @launches(%scores: memref<1x?x8192xf32>, %lens: memref<?xi32>, %idx: memref<1x?x16xi32>, %table: memref<?x?xi32>, %pages: memref<?x128xi32>, %ctx: memref<?xi32>) {
  // CHECK: %[[REQUESTS:.+]] = winnow.requests %{{.+}} : memref<?xi32>
  %requests = winnow.requests %lens : memref<?xi32>
  // CHECK: winnow.workspace[%[[REQUESTS]]] #[[$EXTENTS]] : memref<1x?x8192xf32>
  %space = winnow.workspace[%requests] affine_map<()[s0] -> (1, s0, 8192)> : memref<1x?x8192xf32>
  // CHECK: winnow.launch @select[%[[REQUESTS]]]
  winnow.launch @select[%requests](%space, %lens, %idx, %table, %pages, %ctx) : memref<1x?x8192xf32>, memref<?xi32>, memref<1x?x16xi32>, memref<?x?xi32>, memref<?x128xi32>, memref<?xi32>
  return
}

// CHECK-LABEL: func.func @ragged_launches
func.func @ragged_launches(%query: memref<?x1x128xf8E4M3FN>, %lens: memref<?xi32>, %cu_seqlens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // CHECK: %[[ROWS:.+]] = winnow.extent %{{.+}} axis 0 : memref<?x1x128xf8E4M3FN>
  %rows = winnow.extent %query axis 0 : memref<?x1x128xf8E4M3FN>
  // CHECK: winnow.workspace[%{{.+}}, %[[ROWS]]]
  %space = winnow.workspace[%requests, %rows] affine_map<()[s0, s1] -> (1, s1, 8192)> : memref<1x?x8192xf32>
  // CHECK: winnow.launch @ragged_select[%{{.+}}, %[[ROWS]]]
  winnow.launch @ragged_select[%requests, %rows](%space, %lens, %cu_seqlens) : memref<1x?x8192xf32>, memref<?xi32>, memref<?xi32>
  return
}
