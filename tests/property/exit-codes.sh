#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Holds winnow-fuzz-semantics, given as $1, to its exit codes: 0 where all is
# right, 1 where something differs, and then it says how to repeat that; 2 for
# wrong usage.
"$1" --seed 1 --cases 1 --inputs 2 || exit 1
for option in --nonsense --seed=-1 --seed=18446744073709551616 --inputs=0; do
  "$1" "$option"
  code=$?
  [ "$code" -eq 2 ] || {
    echo "with $option the exit code is $code, wanted 2"
    exit 1
  }
done
found="$("$1" --seed 1 --cases 30 --inputs 2 --failures 1 --jobs 1 --plant gap)"
code=$?
echo "$found"
[ "$code" -eq 1 ] || {
  echo "with a planted fault the exit code is $code, wanted 1"
  exit 1
}
case "$found" in
*"tools/dev fuzz-semantics --seed "*" --cases 1 --inputs 2 --plant gap"*) ;;
*)
  echo "the output does not say how to repeat the failure"
  exit 1
  ;;
esac
