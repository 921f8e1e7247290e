// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every diagnostic of the operations of a kernel plan.
// RUN: winnow-opt %s -verify-diagnostics -split-input-file -allow-unregistered-dialect

// expected-error@below {{grid has 2 results, 0 dimensions and 1 symbols, needed 3, 0 and 1 or 2 (workgroups along x, y and z for s0 requests and s1 rows)}}
winnow.kernel @k(%lens: memref<?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1)> waves 1 {
}

// -----

// expected-error@below {{is named 'score kernel', needed a C identifier}}
winnow.kernel @"score kernel"(%lens: memref<?xi32>) shape S {} grid affine_map<()[s0] -> (1, s0, 1)> waves 1 {
}

// -----

// expected-error@below {{has 17 waves, needed 1 to 16}}
winnow.kernel @k(%lens: memref<?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 17 {
}

// -----

// expected-error@below {{shape constant 'kHeads' is given twice}}
winnow.kernel @k(%lens: memref<?xi32>) shape S {kHeads = 1, kHeads = 2} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
}

// -----

// expected-error@below {{shape constant 'kHeads' is "one", needed an integer or a boolean}}
"winnow.kernel"() <{sym_name = "k", shape_name = "S", shape = {kHeads = "one"}, grid = affine_map<()[s0] -> (s0, 1, 1)>, waves = 1}> ({
^bb0(%lens: memref<?xi32>):
}) : () -> ()

// -----

// expected-error@below {{argument is of type 'i32', needed a memref}}
winnow.kernel @k(%lens: i32) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
}

// -----

// expected-error@below {{holds the operation 'arith.constant', needed stages only}}
winnow.kernel @k(%lens: memref<?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  // expected-note@below {{this operation}}
  %c = arith.constant 1 : i32
}

// -----

winnow.kernel @k(%lens: memref<?xi32>, %table: memref<?x?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
  // expected-error@below {{body takes (), needed ('!winnow.page')}}
  "winnow.stage.walk_pages"(%task, %table) ({
  ^bb0:
  }) : (!winnow.score_task, memref<?x?xi32>) -> ()
}

// -----

winnow.kernel @k(%lens: memref<?xi32>, %table: memref<?x?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
  winnow.stage.walk_pages %page of %task via %table : memref<?x?xi32> {
    // expected-error@below {{has 0 slices, needed at least 1}}
    %best = winnow.stage.walk_slices %slice of %page carry %running slices 0 {
      winnow.stage.yield %running : !winnow.best
    }
  }
}

// -----

winnow.kernel @k(%lens: memref<?xi32>, %table: memref<?x?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
  winnow.stage.walk_pages %page of %task via %table : memref<?x?xi32> {
    // expected-error@below {{has -1 slices, needed at least 1}}
    %best = winnow.stage.walk_slices %slice of %page carry %running slices -1 {
      winnow.stage.yield %running : !winnow.best
    }
  }
}

// -----

winnow.kernel @k(%lens: memref<?xi32>, %table: memref<?x?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
  winnow.stage.walk_pages %page of %task via %table : memref<?x?xi32> {
    // expected-error@below {{body takes ('!winnow.best', '!winnow.slice'), needed ('!winnow.slice', '!winnow.best')}}
    %best = "winnow.stage.walk_slices"(%page) <{slices = 1 : i64}> ({
    ^bb0(%running: !winnow.best, %slice: !winnow.slice):
      winnow.stage.yield %running : !winnow.best
    }) : (!winnow.page) -> !winnow.best
  }
}

// -----

winnow.kernel @k(%lens: memref<?xi32>, %table: memref<?x?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
  winnow.stage.walk_pages %page of %task via %table : memref<?x?xi32> {
    // expected-error@below {{body yields '!winnow.best', needed '!winnow.page_score'}}
    %value = winnow.stage.if_mapped %page {
      %best = winnow.stage.walk_slices %slice of %page carry %running slices 1 {
        winnow.stage.yield %running : !winnow.best
      }
      winnow.stage.yield %best : !winnow.best
    }
  }
}

// -----

winnow.kernel @k(%lens: memref<?xi32>, %table: memref<?x?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
  winnow.stage.walk_pages %page of %task via %table : memref<?x?xi32> {
    // expected-error@below {{body does not end with winnow.stage.yield}}
    %value = winnow.stage.if_mapped %page {
      %best = winnow.stage.walk_slices %slice of %page carry %running slices 1 {
        winnow.stage.yield %running : !winnow.best
      }
      "foreign.terminator"() : () -> ()
    }
  }
}

// -----

winnow.kernel @k(%ranking: memref<?x?xi32>, %lens: memref<?xi32>, %scores: memref<1x?x64xf32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %row = winnow.stage.select_row %lens : memref<?xi32>
  %keys = winnow.stage.load_score_row %scores for %row : memref<1x?x64xf32>
  %candidates = winnow.stage.narrow %keys for %row
  %order = winnow.stage.rank %candidates for %row
  // expected-error@below {{has head axis 0 and row axis 0 of a memref of rank 2, needed 0 and 1, or 1 and 0, of rank 3}}
  winnow.stage.store_selection %order for %row into %ranking {head_axis = 0 : i64, row_axis = 0 : i64} : memref<?x?xi32>
}

// -----

func.func @f(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-error@below {{gives 1 extents for a memref of rank 2}}
  %space = winnow.workspace[%requests] affine_map<()[s0] -> (s0)> : memref<?x4xf32>
  return
}

// -----

func.func @f(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-error@below {{extent of axis 1 is 8, but the memref's is 4}}
  %space = winnow.workspace[%requests] affine_map<()[s0] -> (s0, 8)> : memref<?x4xf32>
  return
}

// -----

func.func @f(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-error@below {{extent of axis 0 is dynamic, but the memref's is 4}}
  %space = winnow.workspace[%requests] affine_map<()[s0] -> (s0)> : memref<4xf32>
  return
}

// -----

func.func @f(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-error@below {{extents have 0 dimensions and 2 symbols for 1 sizes, needed none and 1 (the requests) or 2 (the rows)}}
  %space = winnow.workspace[%requests] affine_map<()[s0, s1] -> (s0)> : memref<?xf32>
  return
}

// -----

func.func @f(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-error@below {{launches @missing, which is no winnow.kernel}}
  winnow.launch @missing[%requests](%lens) : memref<?xi32>
  return
}

// -----

// expected-note@below {{the kernel}}
winnow.kernel @k(%lens: memref<?xi32>, %table: memref<?x?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
}
func.func @f(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-error@below {{gives 1 arguments, but @k takes 2}}
  winnow.launch @k[%requests](%lens) : memref<?xi32>
  return
}

// -----

// expected-note@below {{the kernel}}
winnow.kernel @k(%lens: memref<?xi32>) shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
}
func.func @f(%lens: memref<?xi32>, %other: memref<4xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-error@below {{argument 0 is of type 'memref<4xi32>', but @k takes 'memref<?xi32>'}}
  winnow.launch @k[%requests](%other) : memref<4xi32>
  return
}

// -----

func.func @f(%slots: memref<?xi32>) {
  // expected-error@below {{'winnow.extent' op asks for axis 1 of a memref of rank 1}}
  %count = winnow.extent %slots axis 1 : memref<?xi32>
  return
}

// -----

// expected-note@below {{the kernel}}
winnow.kernel @k(%lens: memref<?xi32>) shape S {} grid affine_map<()[s0, s1] -> (s0, s1, 1)> waves 1 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
}
func.func @sizes(%lens: memref<?xi32>) {
  %requests = winnow.requests %lens : memref<?xi32>
  // expected-error@below {{gives 1 sizes, but the grid of @k takes 2}}
  winnow.launch @k[%requests](%lens) : memref<?xi32>
  return
}

// -----

winnow.kernel @k(%table: memref<?x?xi32>, %keys: memref<?x128x128xf8E4M3FN>, %lens: memref<?xi32>)
    shape S {} grid affine_map<()[s0] -> (s0, 1, 1)> waves 1 {
  %task = winnow.stage.ragged_task %lens, %lens of %keys : memref<?xi32>, memref<?xi32>, memref<?x128x128xf8E4M3FN>
  winnow.stage.walk_shared %page of %task via %table from %keys : memref<?x?xi32>, memref<?x128x128xf8E4M3FN> {
    // expected-error@below {{has 0 slices, needed at least 1}}
    %best = winnow.stage.share_slices %slice of %page carry %running slices 0 {
      winnow.stage.yield %running : !winnow.best
    }
  }
}

// -----

winnow.kernel @k(%lens: memref<?xi32>, %counters: memref<?x4xi32>) shape S {} grid affine_map<()[s0] -> (2, s0, 1)> waves 1 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
  // expected-error@below {{counts in 'memref<?x4xi32>', needed two words a request: memref<?x2xi32>}}
  winnow.stage.count_arrivals %counters for %task : memref<?x4xi32>, !winnow.score_task
}

// -----

winnow.kernel @k(%lens: memref<?xi32>) shape S {} grid affine_map<()[s0] -> (2, s0, 1)> waves 1 {
  %task = winnow.stage.score_task %lens : memref<?xi32>
  // expected-error@below {{body takes ('!winnow.page'), needed ('!winnow.row_task')}}
  winnow.stage.walk_rows %row of %task via %lens : !winnow.page, !winnow.score_task, memref<?xi32> {
  }
}
