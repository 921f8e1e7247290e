#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's figures, of Google Benchmark's JSON, as tables.py takes them.

    winnow-runtime-bench --benchmark_format=json > runtime-1.json
    winnow-bench --benchmark_format=json > runtime-2.json
    runtime.py runtime-1.json runtime-2.json -o runtime.json

Times are those that a core worked, so that a busy machine matters less: of a
call its processor time, of a process that is started its own.
"""
import argparse
import json

from files import guarded, read_figures, write_whole

# benchmark, field, what it is, unit of the field over that of the figure, goal
ROWS = [
    ("planLookUp", "cpu_time", "a plan that was made before, ns", 1, 200),
    ("launch/named", "cpu_time", "a launch above the driver's calls, named tensors, ns", 1, 300),
    ("launch/positional", "cpu_time", "the same, tensors in their order, ns", 1, 300),
    ("planAndLaunch/real_time/threads:1", "cpu_time", "plan and launch, one thread, ns", 1, None),
    ("planAndLaunch/real_time/threads:8", "cpu_time", "plan and launch, each of 8 threads, ns", 1, None),
    ("firstPlan", "cpu_time", "runtime, device, bundle with code and first plan, ms", 1, None),
    ("firstCodeOfAFreshProcess/real_time", "worked_ms", "a process that finds its code on the disk, ms", 1, 5),
    ("codeFromDisk/real_time", "cpu_time", "code from the disk, in a process that runs, us", 1, None),
    ("generateInProcess", "cpu_time", "a description to HIP, ms", 1, None),
    ("compileColdWithClang/real_time", "worked_ms", "decode compiled cold, clang, worker included, ms", 1, 150),
    ("compileColdWithHiprtc/real_time", "worked_ms", "decode compiled cold, hipRTC 6.4, worker included, ms", 1, 1000),
    ("librarySize/iterations:1", "stripped_bytes", "libwinnow.so, stripped, MB", 1e-6, 2),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    found, about = {}, {"bench": "runtime"}
    for path in options.files:
        content = read_figures(path, "context", "benchmarks")
        about["date"] = guarded(path, lambda c: c["context"]["date"], content)
        about["load"] = content["context"].get("load_avg")
        found |= guarded(path, lambda c: {each["name"]: each for each in c["benchmarks"]}, content)
    figures = []
    for name, field, what, scale, goal in ROWS:
        if field not in found.get(name, {}):
            continue
        figure = {"group": "the runtime, time of a core", "name": what, "ours": found[name][field] * scale}
        if goal is not None:
            figure |= {"at_most": goal, "met": figure["ours"] <= goal}
        figures.append(figure)
    write_whole(options.output, json.dumps({"about": about, "figures": figures}, indent=2))


if __name__ == "__main__":
    main()
