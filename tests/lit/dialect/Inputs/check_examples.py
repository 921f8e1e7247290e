# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the `mlir` examples of the dialect's reference page.

Every operation and type has an example that names it. A complete example (it
begins with a function, module or kernel) has to parse and verify. A fragment has
to parse: the only thing that may be said about it is that the values it takes
from its surroundings are undeclared.

usage: check_examples.py PAGE WINNOW_OPT
"""
import re
import subprocess
import sys

UNDECLARED = "use of undeclared SSA value name"


def run(tool, examples):
    text = "\n// -----\n".join(examples)
    return subprocess.run(
        [tool, "-split-input-file"], input=text, text=True, capture_output=True
    )


def main(page, tool):
    with open(page) as file:
        sections = re.split(r"^(?=#{1,4} )", file.read(), flags=re.M)
    complete, fragments, failures = [], [], []
    named = 0
    for section in sections:
        examples = re.findall(r"^```mlir\n(.*?)^```", section, re.M | re.S)
        for example in examples:
            whole = re.match(r"func\.func|module|winnow\.kernel", example)
            (complete if whole else fragments).append(example)
        heading = re.match(r"#{3,4} `(winnow\.[\w.]+)`|### (\w+)Type\n", section)
        if not heading:
            continue
        named += 1
        name = heading.group(1)
        stage_type = "Opaque: it has no parameters" in section
        if name and not any(name in example for example in examples):
            failures.append("%s has no example that names it" % name)
        if not name and not examples and not stage_type:
            failures.append("type %s has no example" % heading.group(2))
    if not complete or not named:
        failures.append("no examples found in %s" % page)

    result = run(tool, complete)
    if result.returncode != 0:
        failures.append("a complete example is refused:\n" + result.stderr)
    result = run(tool, ["func.func @f() {\n%s  return\n}\n" % f for f in fragments])
    errors = re.findall(r"error: .*", result.stderr)
    other = [error for error in errors if UNDECLARED not in error]
    if other:
        failures.append("a fragment does not parse:\n" + result.stderr)
    # By a signal, for example.
    if result.returncode not in (0, 1):
        failures.append("winnow-opt ended with %d" % result.returncode)

    for failure in failures:
        print(failure)
    print(
        "%d operations and types, %d complete examples, %d fragments"
        % (named, len(complete), len(fragments))
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
