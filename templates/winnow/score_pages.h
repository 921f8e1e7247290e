// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The keys of several pages in registers at once: a wave waits for memory once
// for all of them. Each page's slice is all that the wave has of it.
#pragma once

#include "winnow/score_tiles.h"

namespace winnow {

/// One lane's share of the keys of the wave's next pages.
template <class Score, class Element> struct PagesAhead {
  KeyTiles<Score, Element> page[Score::kPages];
};

/// The keys of this page and those after it, once they are here. What is in no
/// memory stays as it is; nobody looks at it.
template <class Score, class Element>
WINNOW_DEVICE PagesAhead<Score, Element>
load_pages_ahead(const Element *keys, const PageWalk<Score> &at) {
  static_assert(Score::kSplit * Score::kSliceTiles == kBlockTiles<Score>,
                "a wave has one slice of each page");
  PagesAhead<Score, Element> ahead;
#pragma unroll
  for (i32 i = 0; i < Score::kPages; ++i)
    if (const i32 page = at.page_after(i); page >= 0)
      ahead.page[i] = load_key_tiles<Score>(keys, page, at.first_slice());
  // Not knowing which pages were asked for, the compiler would wait for all
  // that is under way at each of them, a score that is being stored, too.
  wait_for_loads();
  return ahead;
}

} // namespace winnow
