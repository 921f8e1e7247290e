#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the figures of the benches into a page, as tables.

    tables.py counts.json gpu.json [--theirs triton.json] --into docs/performance.md

A page holds a line `<!-- tables: BENCH -->` for each bench and a line
`<!-- end -->` below it; what stands between them is replaced.
"""
import argparse
import re

from files import guarded, read_figures, write_whole
from theirs import MARK, provenance, put_beside, read_theirs


def number(value):
    """Three digits that count, and no more zeros than it takes."""
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:.0f}"
    if 0.99 < value < 1.1:  # ratios of bytes, whose limit is 1.02
        return f"{value:.4g}"
    text = f"{value:.3g}" if abs(value) >= 0.01 or value == 0 else f"{value:.1e}"
    return text


def anchor_of(figure, theirs):
    """What ours is compared with, marked where it is of another run."""
    elsewhere = theirs is not None and "anchor" in figure and not figure.get("beside")
    return number(figure.get("anchor")) + (" " + MARK if elsewhere else "")


def tables(content, theirs=None):
    about = content["about"]
    lines = []
    if about["bench"] == "gpu":
        lines += [
            f"{about['device']} ({about['arch']}), {about['date']}"
            + (f", commit {about['commit']}" if about.get("commit") else "")
            + ".",
            "",
            "Clocks (name, driver, SM, memory, most of SM, temperature, power, reasons to throttle): "
            f"before `{about['clocks_before']}`, after `{about['clocks_after']}`.",
            "",
            provenance(theirs, content["figures"]),
            "",
        ]
    groups = {}
    for figure in content["figures"]:
        groups.setdefault(figure["group"], []).append(figure)
    for group, figures in groups.items():
        spread = any("p10" in figure for figure in figures)
        anchors = any("anchor" in figure for figure in figures)
        head = [""] + (["theirs"] if anchors else []) + ["ours"] + (["p10 to p90"] if spread else [])
        head += (["ours / theirs"] if anchors else []) + ["goal", ""]
        lines += [f"**{group}**", "", "| " + " | ".join(head) + " |"]
        lines += ["|" + " --- |" * len(head)]
        for figure in figures:
            row = [figure["name"]] + ([anchor_of(figure, theirs)] if anchors else [])
            row.append(number(figure["ours"]))
            if spread:
                row.append(f"{number(figure['p10'])} to {number(figure['p90'])}" if "p10" in figure else "")
            if anchors:
                row.append(f"{figure['ratio']:.2f}" if "ratio" in figure else "")
            goal = "at most " + number(figure["at_most"]) if "at_most" in figure else ""
            goal = "at least " + number(figure["at_least"]) if "at_least" in figure else goal
            row.append(goal)
            met = {True: "met", False: "**not met**", None: ""}[figure.get("met")]
            row.append("**wrong result**" if figure.get("wrong") else met)
            lines.append("| " + " | ".join(row) + " |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="JSON of the benches")
    parser.add_argument("--into", required=True, help="the page")
    parser.add_argument("--theirs", help="JSON of triton_indexer.py, beside that of winnow-gpu-bench")
    options = parser.parse_args()
    theirs, used = read_theirs(options.theirs), False
    try:
        with open(options.into, encoding="utf-8") as file:
            page = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"error: {options.into}: {error}") from None
    for path in options.files:
        content = read_figures(path, "about", "figures")
        bench = guarded(path, lambda c: c["about"]["bench"], content)
        beside = theirs if bench == "gpu" else None
        if beside:
            guarded(path, lambda c: put_beside(beside, options.theirs, c), content)
            used = True
        text = guarded(path, lambda c: tables(c, beside), content)
        mark = re.compile(rf"(<!-- tables: {re.escape(str(bench))} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not mark.search(page):
            raise SystemExit(f"error: {options.into}: no line '<!-- tables: {bench} -->' with an end")
        page = mark.sub(lambda found: found[1] + "\n" + text + "\n" + found[2], page, count=1)
    if theirs and not used:
        raise SystemExit("error: --theirs goes with the JSON of winnow-gpu-bench, and none is given")
    write_whole(options.into, page)


if __name__ == "__main__":
    main()
