#!/usr/bin/env python3
"""Draws what quality_benchmark found as a picture.

    quality_benchmark --report_only --output=csv > quality.csv
    tests/benchmark/quality_picture.py quality.csv > docs/quality.svg

One row for each family of clusters and each size, the sums over its clusters.
Left how many of the tasks are placed, right the unmet weight of preferences;
each for the round, for the best of the orders pod by pod, and at best, where a
MIP found or bounded that.  With --table the same as rows of Markdown.
"""

import collections
import csv
import dataclasses
import math
import sys
from xml.sax.saxutils import escape

ROW = 22
TOP = 78
LEFT = 150
PANEL = 330
GAP = 50
RIGHT = 30
SIZES = ("small", "middle", "large")
INK = "#333333"
COLORS = {"round": "#0b6e4f", "pod by pod": "#c1440e", "best": "#4a5a6a"}


@dataclasses.dataclass
class Range:
    """The sum of what is settled or lies between two numbers."""
    low: int = 0
    high: int = 0
    is_known: bool = True

    def add(self, text):
        if not text:
            self.is_known = False
            return
        ends = [int(end) for end in text.split("..")]
        self.low += ends[0]
        self.high += ends[-1]

    def text(self):
        if not self.is_known:
            return ""
        if self.low == self.high:
            return f"{self.low:,}"
        return f"{self.low:,} to {self.high:,}"


@dataclasses.dataclass
class Family:
    tasks: int = 0
    placed: int = 0
    placed_pods: int = 0
    most: Range = dataclasses.field(default_factory=Range)
    unmet: int = 0
    unmet_pods: int = 0
    least: Range = dataclasses.field(default_factory=Range)
    lost: int = 0


def read(file):
    """The families by name and size, in the order of the file."""
    families = collections.defaultdict(Family)
    for row in csv.DictReader(file):
        words = row["input"].split()
        if len(words) < 3 or words[-2] not in SIZES:
            continue  # Sizes alone, or the trace.
        family = families[" ".join(words[:-1])]
        for name in ("tasks", "placed", "placed_pods", "unmet", "unmet_pods"):
            setattr(family, name, getattr(family, name) + int(row[name]))
        family.most.add(row["most"])
        family.least.add(row["least"])
        family.lost += bool(row["verdict"])
    return families


def print_table(families):
    print("| family | tasks | placed: round | pod by pod | most "
          "| unmet: round | pod by pod | least | lost |")
    print("| --- " * 9 + "|")
    for name, it in families.items():
        *kind, size = name.split()
        cells = [f"{' '.join(kind)}, {size}", f"{it.tasks:,}", f"{it.placed:,}",
                 f"{it.placed_pods:,}", it.most.text(), f"{it.unmet:,}",
                 f"{it.unmet_pods:,}", it.least.text(), str(it.lost)]
        print("| " + " | ".join(cells) + " |")


class Picture:
    def __init__(self, families):
        self.families = families
        self.parts = []
        self.bottom = TOP + ROW * len(families)

    def text(self, x, y, text, anchor="middle", size=12):
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" '
                          f'text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, color="#dddddd", width=1):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
                          f'y2="{y2:.1f}" stroke="{color}" '
                          f'stroke-width="{width}"/>')

    def mark(self, kind, x, y):
        """Shapes differ, so that the picture can do without its colors."""
        color = COLORS[kind]
        if kind == "round":
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" '
                              f'fill="{color}"/>')
        elif kind == "pod by pod":
            self.line(x - 4, y - 4, x + 4, y + 4, color, 2)
            self.line(x - 4, y + 4, x + 4, y - 4, color, 2)
        else:
            self.line(x, y - 8, x, y + 8, color, 2)

    def best(self, it, x_low, x_high, y):
        if not it.is_known:
            return
        self.line(x_low, y, x_high, y, COLORS["best"], 2)
        self.mark("best", x_low, y)
        self.mark("best", x_high, y)

    def panel(self, left, title, ticks, place):
        self.text(left + PANEL / 2, TOP - 30, title, size=13)
        for value, label in ticks:
            x = left + place(value)
            self.line(x, TOP - 8, x, self.bottom)
            self.text(x, TOP - 13, label, size=10)

    def draw(self):
        left, right = LEFT, LEFT + PANEL + GAP
        shares = [100 * value / it.tasks for it in self.families.values()
                  for value in (it.placed, it.placed_pods)]
        low = 5 * math.floor(min(shares) / 5)
        top = max(max(it.unmet, it.unmet_pods) for it in self.families.values())
        decades = math.ceil(math.log10(top))

        def share(value):
            return PANEL * (value - low) / (100 - low)

        def weight(value):  # Logarithmic; 0 is where 10 is.
            return PANEL * (math.log10(max(value, 10)) - 1) / (decades - 1)

        self.panel(left, "placed, % of the tasks",
                   [(v, str(v)) for v in range(low, 101, 5)], share)
        self.panel(right, "unmet weight of preferences",
                   [(10 ** d, f"{10 ** d:,}") for d in range(1, decades + 1)],
                   weight)
        for i, (name, it) in enumerate(self.families.items()):
            y = TOP + ROW * i + ROW / 2
            self.text(left - 14, y + 4, name, anchor="end")
            percent = 100 / it.tasks
            self.best(it.most, left + share(percent * it.most.low),
                      left + share(percent * it.most.high), y)
            self.mark("pod by pod", left + share(percent * it.placed_pods), y)
            self.mark("round", left + share(percent * it.placed), y)
            self.best(it.least, right + weight(it.least.low),
                      right + weight(it.least.high), y)
            self.mark("pod by pod", right + weight(it.unmet_pods), y)
            self.mark("round", right + weight(it.unmet), y)
        x = left
        for kind in COLORS:
            self.mark(kind, x, 20)
            self.text(x + 12, 24, kind, anchor="start")
            x += 40 + 7 * len(kind)

    def svg(self):
        self.draw()
        width = LEFT + 2 * PANEL + GAP + RIGHT
        height = self.bottom + 14
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
                f'height="{height}" viewBox="0 0 {width} {height}" '
                f'font-family="sans-serif" fill="{INK}">\n'
                f'<rect width="{width}" height="{height}" fill="white"/>\n')
        return head + "\n".join(self.parts) + "\n</svg>\n"


def main():
    arguments = sys.argv[1:]
    wants_table = "--table" in arguments
    paths = [it for it in arguments if it != "--table"]
    if len(paths) != 1:
        sys.exit("usage: quality_picture.py [--table] quality.csv")
    with open(paths[0], encoding="utf-8") as file:
        families = read(file)
    if not families:
        sys.exit(f"{paths[0]}: no families in it")
    if wants_table:
        print_table(families)
    else:
        sys.stdout.write(Picture(families).svg())


if __name__ == "__main__":
    main()
