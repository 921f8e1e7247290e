# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example through hipRTC: for gfx950 the bundle is run on the simulated
device against the reference, in the best lowering and in the portable one; for
gfx942 it only has to compile. The contract that asks for gfx950 is left out
there.

usage: every_example.py EXAMPLES HIPRTC_ROOT FOLDER
"""
import glob
import os
import re
import subprocess
import sys

examples, root, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
hiprtc = ["--compiler", "hiprtc", "--hiprtc-root", root]


def winnow(*arguments):
    """The output of a command that has to succeed."""
    done = subprocess.run(
        ["winnow", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    text = done.stdout.decode()
    if done.returncode != 0:
        sys.exit("winnow %s\n%s" % (" ".join(arguments), text))
    return text


def build(path, bundle, *arguments):
    """Builds for gfx950, and sees that no kernel keeps variables in memory."""
    text = winnow("build", path, "-o", bundle, "--verbose", *arguments, *hiprtc)
    kernels = re.findall(r"^(\w+): .* (\d+) bytes of scratch", text, re.M)
    if not kernels or any(scratch != "0" for _, scratch in kernels):
        sys.exit("%s: no kernel, or one with scratch memory:\n%s" % (path, text))


def run(bundle, entry, context):
    # Without a compiler: what runs is what hipRTC made.
    text = winnow(
        *["run", bundle, "--entry", entry, "--check", "--requests", "2"],
        *["--context", context, "--clang", "/no/such/clang"]
    )
    for wanted in ["from the bundle", "matches the reference"]:
        if wanted not in text:
            sys.exit("%s, %s: no '%s' in\n%s" % (bundle, entry, wanted, text))


def through_hiprtc(path):
    name = os.path.basename(path)
    text = open(path).read()
    entries = re.findall(r"func\.func @(\w+)", text)
    bundle = os.path.join(folder, name + ".winnow")
    for prefer in [[], ["--prefer", "generic"]]:
        build(path, bundle, *prefer)
        for entry in entries:
            run(bundle, entry, "700")
            # A row that has to be narrowed, where the reference does not take
            # seconds for it.
            if "ragged_rows" not in text:
                run(bundle, entry, "12000")
    anywhere = os.path.join(folder, name)
    with open(anywhere, "w") as file:
        file.write(re.sub(r'winnow\.contract = "\w+",?', "", text))
    winnow("build", anywhere, "--arch", "gfx942", "-o", bundle, *hiprtc)
    print("%s: %d entries" % (name, len(entries)))


paths = sorted(glob.glob(os.path.join(examples, "*.mlir")))
for path in paths:
    through_hiprtc(path)
print("%d examples" % len(paths))
