# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two JSON reports of `winnow run` that have to show the same results."""
import json
import sys

first, second = (json.load(open(name)) for name in sys.argv[1:])
assert first["check"]["match"] is True, first["check"]
assert second["check"] is None
assert first["shown"]["selected"][0]["blocks"], "nothing selected"
assert first["shown"] == second["shown"], (first["shown"], second["shown"])
assert first["pages_scored"] == second["pages_scored"] == 71 + 2 + 0 + 1
assert [launch["kernel"] for launch in first["launches"]] == [
    "m3_decode_score_select",
]
assert first["launches"][0]["mfma"] > 0
