# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts what triton_indexer.py measured beside the figures of winnow-gpu-bench.

A line of ours takes its anchor from there where it has one; the others keep
the figure that winnow-gpu-bench knows, of another run, and are marked.
"""
import math

from files import guarded, read_figures

MARK = "†"
ELSEWHERE = (
    "of another run: vLLM's Triton indexer (torch 2.11, Triton 3.6) on an H200 with a copy bandwidth of "
    "4.23 to 4.26 TB/s and a best read of 4.3 to 4.66"
)


def number_of(figure, field):
    value = figure[field]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value <= 0:
        raise ValueError(f"'{field}' of '{figure['group']}, {figure['name']}' is {value!r}, wanted a number above 0")
    return value


def check(content):
    if content["about"]["bench"] != "triton":
        raise ValueError(f"'bench' is {content['about']['bench']!r}, wanted 'triton'")
    for field in ("device", "date", "vllm", "torch", "triton"):
        if not isinstance(content["about"][field], str):
            raise TypeError(f"'{field}' is {content['about'][field]!r}, wanted a text")
    number_of({"group": "about", "name": "the device", **content["about"]}, "copy_tbs")
    tuned = content["about"]["tuned"]
    if not isinstance(tuned, dict):
        raise TypeError(f"'tuned' is {tuned!r}, wanted an object")
    seen = set()
    for figure in content["figures"]:
        number_of(figure, "ours")
        key = (figure["group"], figure["name"])
        if key in seen:
            raise ValueError(f"'{key[0]}, {key[1]}' is there twice")
        seen.add(key)
    return content


def read_theirs(path):
    """The file of triton_indexer.py, or None for no path; ends the program
    where something in it is not as written there."""
    return path and guarded(path, check, read_figures(path, "about", "figures"))


def belongs(ours, theirs):
    """Ours may say more: 'X, one launch' and 'X (entry, 1 launches)' are X."""
    name = theirs["name"]
    return ours["group"] == theirs["group"] and (
        ours["name"] == name or ours["name"].startswith((name + " (", name + ", one launch", name + ", two launches"))
    )


def put_beside(theirs, path, content):
    """Changes the figures of winnow-gpu-bench in `content`; how many anchors
    they take from `theirs`. Those that computed something wrong are no anchors."""
    device = content["about"]["device"]
    if theirs["about"]["device"] != device:
        raise SystemExit(f"error: {path}: timed on {theirs['about']['device']}, ours on {device}; wanted one device")
    right = [figure for figure in theirs["figures"] if not figure.get("wrong")]
    taken = 0
    for figure in content["figures"]:
        for other in right:
            if belongs(figure, other):
                figure["anchor"] = other["ours"]
                figure["ratio"] = figure["ours"] / other["ours"]
                figure["beside"] = True
                taken += 1
                break
    if not taken:
        raise SystemExit(f"error: {path}: no figure that is one of ours, too")
    return taken


def provenance(theirs, figures):
    """Whose figures stand beside ours, for the head of a page."""
    if theirs is None:
        return f"*Theirs* is {ELSEWHERE}. Its top-k alone is without the page table, ours with it."
    about = theirs["about"]
    text = (
        f"*Theirs* is vLLM's Triton indexer{', commit ' * bool(about['vllm'])}{about['vllm']}, with torch "
        f"{about['torch']} and Triton {about['triton']}, timed in the same way on {about['device']}, {about['date']}, "
        f"copy bandwidth {about['copy_tbs']:.2f} TB/s, results checked."
    )
    if about["tuned"]:
        text += " Triton tuned before anything was timed: " + ", ".join(
            f"`{kernel}` to `{choice}`" for kernel, choice in about["tuned"].items()
        )
        text += "."
    wrong = sum(bool(figure.get("wrong")) for figure in theirs["figures"])
    if wrong:
        text += f" {wrong} of its results were wrong and are left out."
    if any("anchor" in figure and not figure.get("beside") for figure in figures):
        text += f" {MARK}: {ELSEWHERE}."
    return text
