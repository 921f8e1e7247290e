#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Exports a handful of cases and runs them on the simulated device; then that
# the tool fails where a result is wrong, code is missing, or nothing ran.
set -eu
export="$1" run="$2" sim="$3" folder="$4"

wanted() { # code, command...
  code="$1"
  shift
  got=0
  "$@" >"$folder.out" 2>&1 || got=$?
  cat "$folder.out"
  if [ "$got" -ne "$code" ]; then
    echo "exit code $got, wanted $code: $*"
    exit 1
  fi
}
said() {
  grep -q "$1" "$folder.out" || {
    echo "not said: $1"
    exit 1
  }
}

rm -rf "$folder"
wanted 0 "$export" "$folder" --arch gfx950 --seed 1003 --seeds 5
wanted 0 "$run" "$folder" --device sim:gfx950 --sim "$sim"
said ' 0 failures'
wanted 1 "$run" "$folder" --device sim:gfx950 --sim "$sim" --spoil --once --jobs 1 --failures 3
said '^FAILED seed 100[0-9] variant [0-9] (.*) inputs [0-9]: '
said ' 3 failures.*stopped early'
wanted 2 "$run" "$folder/nowhere" --device sim:gfx950 --sim "$sim"
said 'cases.json'
wanted 2 "$run" "$folder" --device cuda:0 --cuda /nowhere/libcuda.so.1
said 'no CUDA library can be loaded'
wanted 2 "$run" "$folder" --device sim:gfx950 --sim "$sim" --jobs 1000000
said 'Value 1000000 not in range 1 to 256'
for option in --nonsense --seeds=-1 --failures=0 --replays=x; do
  wanted 2 "$run" "$folder" --device sim:gfx950 --sim "$sim" "$option"
done
wanted 0 "$run" --help
for option in --nonsense --seeds=0 --seed=-1 --jobs=1000; do
  wanted 2 "$export" "$folder" "$option"
done
wanted 1 "$run" "$folder" --device sim:gfx950 --sim "$sim" --seeds 4711
said ' 0 calls'
rm -rf "$folder" "$folder.out"
