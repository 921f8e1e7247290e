# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the tool on truncated, edited and random files.

Each run has to end by itself with status 1 and an error text, whatever the
bytes are, and must not leave the file it was asked to write. An edit that
leaves a valid file is fine too; a signal or a time-out never is.
"""
import os
import random
import subprocess
import sys

folder, *files = sys.argv[1:]
generator = random.Random(1)


def cases(whole):
    for _ in range(12):
        yield "truncated", whole[: generator.randrange(len(whole))]
    for _ in range(12):
        edited = bytearray(whole)
        for _ in range(3):
            edited[generator.randrange(len(edited))] = generator.randrange(256)
        yield "edited", bytes(edited)
    for size in (0, 1, 7, 40, 3000):
        yield "random", generator.randbytes(size)


damaged = os.path.join(folder, "damaged")
output = os.path.join(folder, "output")
runs = 0
for name in files:
    with open(name, "rb") as file:
        whole = file.read()
    for kind, content in cases(whole):
        with open(damaged, "wb") as file:
            file.write(content)
        for command in (
            ["winnow", "check", damaged],
            ["winnow", "emit", damaged, "-o", output],
        ):
            run = subprocess.run(command, capture_output=True, timeout=60)
            valid = kind == "edited" and run.returncode == 0
            if not valid and (run.returncode != 1 or not run.stderr.strip()):
                sys.exit(
                    f"{kind} {os.path.basename(name)}, {command[1]}: status "
                    f"{run.returncode}, stderr {run.stderr!r}"
                )
            if not valid and os.path.exists(output):
                sys.exit(f"{kind} {name}: left {output}")
            if valid and command[1] == "emit":
                subprocess.run(["rm", "-r", output], check=True)
            runs += 1
print(f"{runs} runs, none crashed")
