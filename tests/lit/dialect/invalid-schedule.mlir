// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `winnow.schedule` may hold, whatever the kernels.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file

// expected-error@below {{attribute 'winnow.schedule' has to be a dictionary of waves, chunks, chunk_blocks, query_tiles, key_tiles, prefetch, pages_in_flight, non_temporal, query_group, slots, launches, score, select, found 8 : i64}}
func.func @no_dictionary() attributes {winnow.schedule = 8} { return }

// -----

// expected-error@below {{unknown option 'wave' of 'winnow.schedule'; known: waves, chunks, chunk_blocks, query_tiles, key_tiles, prefetch, pages_in_flight, non_temporal, query_group, slots, launches, score, select}}
func.func @unknown() attributes {winnow.schedule = {wave = 8}} { return }

// -----

// expected-error@below {{unknown option 'slots' of 'winnow.schedule.score'; known: waves, chunks, chunk_blocks, query_tiles, key_tiles, prefetch, pages_in_flight, non_temporal, query_group}}
func.func @of_another_kernel() attributes {winnow.schedule = {score = {slots = 8}}} { return }

// -----

// expected-error@below {{option 'waves' of 'winnow.schedule' has to be an integer from 1 to 16 (waves a workgroup), found 17 : i64}}
func.func @too_many() attributes {winnow.schedule = {waves = 17}} { return }

// -----

// expected-error@below {{option 'slots' of 'winnow.schedule.select' has to be an integer from 1 to 32 (scores a lane), found 0 : i64}}
func.func @too_few() attributes {winnow.schedule = {select = {slots = 0}}} { return }

// -----

// expected-error@below {{option 'chunks' of 'winnow.schedule' has to be an integer from 1 to 1024 (workgroups that share the blocks of a request), found "many"}}
func.func @no_integer() attributes {winnow.schedule = {chunks = "many"}} { return }

// -----

// expected-error@below {{option 'score' of 'winnow.schedule' has to be a dictionary of waves, chunks, chunk_blocks, query_tiles, key_tiles, prefetch, pages_in_flight, non_temporal, query_group, found 4 : i64}}
func.func @no_kernel() attributes {winnow.schedule = {score = 4}} { return }

// -----

// expected-error@below {{option 'launches' of 'winnow.schedule' has to be 1 or 2, found 3 : i64}}
func.func @launches() attributes {winnow.schedule = {launches = 3}} { return }

// -----

// expected-error@below {{attribute 'winnow.schedule' needs 'winnow.entry' on the same function}}
func.func @no_entry() attributes {winnow.schedule = {waves = 4}} { return }

// -----

func.func @misplaced(%lens: memref<?xi32>) {
  // expected-error@below {{attribute 'winnow.schedule' belongs on 'func.func', found on 'winnow.uniform_rows'}}
  %rows = winnow.uniform_rows %lens {query_len = 1, winnow.schedule = {waves = 4}} : memref<?xi32>
  return
}

// -----

// expected-error@below {{unknown option 'lanes' of 'winnow.schedule'; known: waves, chunks, chunk_blocks, query_tiles, key_tiles, prefetch, pages_in_flight, non_temporal, query_group, slots, launches, score, select}}
winnow.kernel @kernel(%lens: memref<?xi32>) shape Score {kHeads = 1}
    grid affine_map<()[s0] -> (1, s0, 1)> waves 1
    attributes {winnow.schedule = {lanes = 4}} {
  %task = winnow.stage.score_task %lens : memref<?xi32>
}
