// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches that winnow-fuse cannot join; nothing is rewritten then.
// RUN: winnow-opt %s -winnow-fuse -verify-diagnostics -split-input-file

winnow.kernel @select(%score: memref<1x?x64xf32>, %lens: memref<?xi32>) shape Select {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 4 {
  %row = winnow.stage.select_row %lens : memref<?xi32>
  %keys = winnow.stage.load_score_row %score for %row : memref<1x?x64xf32>
}
func.func @alone(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  %space = winnow.workspace[%requests] affine_map<()[s0] -> (1, s0, 64)> : memref<1x?x64xf32>
  // expected-error@below {{has 'winnow.join', but no launch before it to be joined to}}
  winnow.launch @select[%requests](%space, %lens) {winnow.join} : memref<1x?x64xf32>, memref<?xi32>
  return
}

// -----

winnow.kernel @select(%score: memref<1x?x64xf32>, %lens: memref<?xi32>) shape Select {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 4 {
  %row = winnow.stage.select_row %lens : memref<?xi32>
  %keys = winnow.stage.load_score_row %score for %row : memref<1x?x64xf32>
}
func.func @selects_twice(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  %space = winnow.workspace[%requests] affine_map<()[s0] -> (1, s0, 64)> : memref<1x?x64xf32>
  // expected-note@below {{the launch before}}
  winnow.launch @select[%requests](%space, %lens) : memref<1x?x64xf32>, memref<?xi32>
  // expected-error@below {{of @select cannot be joined to that of @select: the first scores no uniform rows}}
  winnow.launch @select[%requests](%space, %lens) {winnow.join} : memref<1x?x64xf32>, memref<?xi32>
  return
}

// -----

winnow.kernel @score(%lens: memref<?xi32>) shape Score {} grid affine_map<()[s0] -> (2, s0, 1)> waves 4 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
}
func.func @scores_twice(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-note@below {{the launch before}}
  winnow.launch @score[%requests](%lens) : memref<?xi32>
  // expected-error@below {{the second selects for no uniform rows}}
  winnow.launch @score[%requests](%lens) {winnow.join} : memref<?xi32>
  return
}

// -----

winnow.kernel @score(%lens: memref<?xi32>) shape Score {} grid affine_map<()[s0] -> (s0, 2, 1)> waves 4 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
}
winnow.kernel @select(%lens: memref<?xi32>) shape Select {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 4 {
  %row = winnow.stage.select_row %lens : memref<?xi32>
}
func.func @turned(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-note@below {{the launch before}}
  winnow.launch @score[%requests](%lens) : memref<?xi32>
  // expected-error@below {{the grid of the first is affine_map<()[s0] -> (s0, 2, 1)>, needed a constant and the requests in x and y}}
  winnow.launch @select[%requests](%lens) {winnow.join} : memref<?xi32>
  return
}

// -----

winnow.kernel @score(%lens: memref<?xi32>) shape Score {} grid affine_map<()[s0] -> (2, s0, 1)> waves 4 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
}
winnow.kernel @select(%lens: memref<?xi32>) shape Select {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 8 {
  %row = winnow.stage.select_row %lens : memref<?xi32>
}
func.func @waves(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-note@below {{the launch before}}
  winnow.launch @score[%requests](%lens) : memref<?xi32>
  // expected-error@below {{of @select cannot be joined to that of @score: the first has 4 waves, the second 8}}
  winnow.launch @select[%requests](%lens) {winnow.join} : memref<?xi32>
  return
}

// -----

winnow.kernel @score(%lens: memref<?xi32>) shape Score {} grid affine_map<()[s0] -> (2, s0, 1)> waves 4 attributes {winnow.lowering = "mfma"} {
  %task = winnow.stage.score_task %lens : memref<?xi32>
}
winnow.kernel @select(%lens: memref<?xi32>) shape Select {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 4 attributes {winnow.lowering = "generic"} {
  %row = winnow.stage.generic_select_row %lens : memref<?xi32>
}
func.func @lowerings(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-note@below {{the launch before}}
  winnow.launch @score[%requests](%lens) : memref<?xi32>
  // expected-error@below {{'winnow.lowering' of the first is "mfma", of the second "generic"}}
  winnow.launch @select[%requests](%lens) {winnow.join} : memref<?xi32>
  return
}

// -----

winnow.kernel @score(%lens: memref<?xi32>) shape Score {kHeads = 2} grid affine_map<()[s0] -> (2, s0, 1)> waves 4 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
}
winnow.kernel @select(%lens: memref<?xi32>) shape Select {kHeads = 4} grid affine_map<()[s0] -> (s0, 1, 1)> waves 4 {
  %row = winnow.stage.select_row %lens : memref<?xi32>
}
func.func @shapes(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-note@below {{the launch before}}
  winnow.launch @score[%requests](%lens) : memref<?xi32>
  // expected-error@below {{constant 'kHeads' is 2 : i64 in the first and 4 : i64 in the second}}
  winnow.launch @select[%requests](%lens) {winnow.join} : memref<?xi32>
  return
}
