#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the figures of winnow-count-bench and winnow-gpu-bench as one SVG.

    chart.py counts.json gpu.json [--theirs triton.json] -o docs/performance.svg

A bar is ours over what it is compared with, so 1 is as good and shorter is
better; a tick marks the goal. Figures that a file does not have are left out.
"""
import argparse
import html

from files import guarded, read_figures, write_whole
from theirs import MARK, put_beside, read_theirs

DECODE = "decode fp8 H1 W4, score"
PREFILL = "prefill fp8 H1 Q4, score"
SELECT = "top-k 16 of one row, instructions of all waves"
COUNTS = [
    ("decode, a page of 128 tokens", DECODE, "instructions a page, unmasked"),
    ("… of which a row sees a part", DECODE, "instructions a page, masked"),
    ("… a wave outside its pages", DECODE, "instructions a wave outside the loop"),
    ("… s_nop wait states a page", DECODE, "unmasked: s_nop wait states"),
    ("prefill, a page and wave", PREFILL, "instructions a page and wave, unmasked"),
    ("… of which a row sees a part", PREFILL, "instructions a page and wave, masked"),
    ("top-k and table, 9 blocks", SELECT, "S1 W1, 9 blocks, with table"),
    ("… 1000 blocks, gaussian", SELECT, "S16 W8, 1000 blocks, gaussian, with table"),
    ("top-k, 1000 blocks, two clusters", SELECT, "S16 W8, 1000 blocks, two clusters"),
    ("… heavy ties", SELECT, "S16 W8, 1000 blocks, heavy ties"),
    ("… all equal", SELECT, "S16 W8, 1000 blocks, all equal"),
    ("… gaussian, their one-wave kernel", SELECT, "S16 W1, 1000 blocks, gaussian"),
    ("top-k, 8000 blocks, gaussian", SELECT, "S128 W8, 8000 blocks, gaussian"),
    ("… two clusters", SELECT, "S128 W8, 8000 blocks, two clusters"),
]
ALL = "decode: score + top-k + table, {}, graph, us"
SCORE = "decode: scoring alone, {}, graph, us"
NEW = "prefill: scoring alone, {}, graph, us"
TIMES = (
    [(f"score + top-k + table, bf16, 32k × {n}", ALL.format("bf16"), f"32768 tokens x {n}") for n in (1, 4, 32)]
    + [(f"scoring, {t}, 32k × {n}", SCORE.format(t), f"32768 tokens x {n}") for t in ("bf16", "e4m3") for n in (1, 32)]
    + [(f"scoring, {t}, 128k × {n}", SCORE.format(t), f"131072 tokens x {n}") for t in ("bf16", "e4m3") for n in (1, 128)]
    + [(f"prefill scoring, {t}, 16384 new", NEW.format(t), "16384 new tokens, 49152 in all") for t in ("bf16", "e4m3")]
    + [("eager decode call, host", "the host: one decode call", "eager, us")]
)

GOOD, BAD, INK, FAINT, GRID = "#1b7f79", "#c8641e", "#1f2933", "#66727f", "#d5dae0"
ROW, TOP, LABEL, BARS, VALUE, MOST = 30, 118, 262, 300, 128, 1.25


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}".rstrip("0").rstrip(".")


def rows_of(figures, wanted):
    """The wanted figures that are there and can be compared."""
    rows = []
    for label, group, name in wanted:
        for figure in figures:
            if figure["group"] == group and "ratio" in figure and (
                figure["name"] == name or figure["name"].startswith(name + " (")
            ):
                for field in ("ours", "anchor", "ratio", "at_most"):
                    if field in figure and (isinstance(figure[field], bool) or not isinstance(figure[field], (int, float))):
                        raise TypeError(f"'{field}' of '{group}, {name}' is {figure[field]!r}, wanted a number")
                rows.append((label, figure))
                break
    return rows


class Drawing:
    def __init__(self):
        self.parts = []

    def text(self, x, y, text, size=14, colour=INK, anchor="start", weight="normal"):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}" font-weight="{weight}">{html.escape(text)}</text>'
        )

    def box(self, x, y, width, height, colour):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
        )

    def line(self, x, y, to_x, to_y, colour, width=1.0, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" '
            f'stroke="{colour}" stroke-width="{width}"{dashes}/>'
        )


def panel(drawing, left, title, about, unit, rows):
    """One column of bars; its lower end."""
    drawing.text(left, 66, title, 17, weight="bold")
    drawing.text(left, 87, about, 13, FAINT)
    zero = left + LABEL
    bottom = TOP + ROW * len(rows)
    for step in range(0, 6):
        ratio = step / 4
        x = zero + BARS * ratio / MOST
        if ratio != 1:
            drawing.line(x, TOP - 4, x, bottom, GRID)
        drawing.text(x, TOP - 9, f"{ratio:g}×" if step else "0", 11, FAINT, "middle")
    for at, (label, figure) in enumerate(rows):
        y = TOP + ROW * at
        middle = y + ROW / 2
        ratio = figure["ratio"]
        met = figure.get("met", ratio <= 1)
        drawing.text(zero - 10, middle + 5, label, 13, anchor="end")
        length = BARS * min(ratio, MOST) / MOST
        drawing.box(zero, y + 6, max(length, 1), ROW - 12, GOOD if met else BAD)
        if ratio > MOST:  # the bar goes on
            drawing.text(zero + BARS - 4, middle + 5, "▸", 13, "#ffffff", "end")
        if "at_most" in figure and figure["anchor"]:
            x = zero + BARS * min(figure["at_most"] / figure["anchor"], MOST) / MOST
            drawing.line(x, y + 3, x, y + ROW - 3, INK, 2.5)
        drawing.text(
            zero + BARS + 10,
            middle + 5,
            f"{number(figure['ours'])} / {number(figure['anchor'])}{unit}",
            13,
            FAINT,
        )
    one = zero + BARS / MOST
    drawing.line(one, TOP - 4, one, bottom, INK, 1.4, "5 3")
    return bottom


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", help="JSON of the two programs")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--theirs", help="JSON of triton_indexer.py, beside that of winnow-gpu-bench")
    options = parser.parse_args()
    theirs, used = read_theirs(options.theirs), False
    figures, device = [], "a GPU"
    for path in options.files:
        content = read_figures(path, "about", "figures")
        found = guarded(path, lambda c: rows_of(c["figures"], COUNTS) + rows_of(c["figures"], TIMES), content)
        if not found:
            raise SystemExit(f"error: {path}: no figure that the chart shows")
        figures += content["figures"]
        if guarded(path, lambda c: c["about"]["bench"], content) == "gpu":
            if theirs:
                guarded(path, lambda c: put_beside(theirs, options.theirs, c), content)
                used = True
            device = guarded(path, lambda c: c["about"]["device"].removeprefix("NVIDIA "), content)
    if theirs and not used:
        raise SystemExit("error: --theirs goes with the JSON of winnow-gpu-bench, and none is given")
    times = rows_of(figures, TIMES)
    of_theirs = "time, of vLLM's Triton indexer"
    if theirs:
        times = [(label if figure.get("beside") else f"{label} {MARK}", figure) for label, figure in times]
        elsewhere = any(MARK in label for label, figure in times)
        of_theirs += " timed beside it" + f"; {MARK}: in another run" * elsewhere
    panels = [
        ("gfx950 (MI355X), by its machine code", "instructions, of AITER's hand-written kernels", "", rows_of(figures, COUNTS)),
        (f"{device}, by the clock", of_theirs, " µs", times),
    ]
    panels = [panel for panel in panels if panel[3]]
    drawing = Drawing()
    width = 24
    bottom = 0
    for title, about, unit, rows in panels:
        bottom = max(bottom, panel(drawing, width, title, about, unit, rows))
        width += LABEL + BARS + VALUE
    drawing.text(24, 34, "Winnow's generated kernels: ours over theirs, shorter is better", 20, weight="bold")
    y = bottom + 34
    drawing.box(24, y - 11, 26, 12, GOOD)
    drawing.text(58, y, "reaches its goal, or no slower where there is none", 13)
    drawing.box(400, y - 11, 26, 12, BAD)
    drawing.text(434, y, "does not", 13)
    drawing.line(524, y - 14, 524, y + 4, INK, 2.5)
    drawing.text(534, y, "the goal", 13)
    drawing.line(618, y - 5, 648, y - 5, INK, 1.4, "5 3")
    drawing.text(656, y, "theirs", 13)
    drawing.text(726, y, "numbers: ours / theirs", 13, FAINT)
    height = y + 24
    write_whole(
        options.output,
        (
            "<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->\n"
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}" '
            'font-family="Helvetica, Arial, \'Liberation Sans\', sans-serif">\n'
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>\n'
        )
        + "\n".join(drawing.parts)
        + "\n</svg>\n",
    )


if __name__ == "__main__":
    main()
