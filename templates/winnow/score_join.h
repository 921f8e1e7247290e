// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The score of a block that several waves share: each has the maximum of its
// slices, and the first of them gets that of all.
#pragma once

#include "winnow/score_walk.h"

namespace winnow {

/// Maxima of the waves that share a block, of this block and the one before.
template <class Score> struct JoinStorage {
  float best[2][Score::kWaves][kMatrixRows];
};

/// The maximum over the waves of a team, for the first of them. All have to
/// come here for every block; `set` is the wave's own, 0 at first.
template <class Score>
WINNOW_DEVICE float join_waves(float best, JoinStorage<Score> &storage,
                               i32 &set) {
  if constexpr (Score::kSplit == 1)
    return best;
  const i32 wave = wave_index(), query = QueryLayout<Score>::own_query();
  // Two sets are enough: nobody writes to one again before the barrier that
  // all come to when they have read it.
  float (&joined)[Score::kWaves][kMatrixRows] = storage.best[set];
  set ^= 1;
  if (QueryLayout<Score>::stores())
    joined[wave][query] = best;
  team_barrier<Score::kSplit>(kTeams<Score> == 1 ? 0 : wave / Score::kSplit);
  if (place_in_team<Score>() == 0)
#pragma unroll
    for (i32 i = 1; i < Score::kSplit; ++i)
      best = max_of_numbers(best, joined[wave + i][query]);
  return best;
}

} // namespace winnow
