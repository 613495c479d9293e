#!/usr/bin/env python3
"""Draws what policies_benchmark found as a picture.

    policies_benchmark --nodes=F --pods=F --output=csv > policies.csv
    tests/benchmark/policies_picture.py policies.csv > docs/policies.svg

A row for each policy, a panel for each figure; bars begin at 0.
"""

import csv
import sys
from xml.sax.saxutils import escape

ROW = 22
TOP = 46
LEFT = 120
PANEL = 130
GAP = 62
BAR = "#0b6e4f"
INK = "#333333"
PANELS = {
    "placed": "tasks placed",
    "GPUs": "GPUs in use",
    "machines": "machines used",
    "cpu sd": "uneven cpu (sd)",
    "p99 ms": "round, p99 ms",
}


def number(text):
    return float(text.replace("%", "").replace(",", ""))


def text(x, y, content, anchor="start", weight="normal"):
    return (f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{INK}" '
            f'font-weight="{weight}">{escape(content)}</text>')


def draw(rows):
    width = LEFT + len(PANELS) * (PANEL + GAP)
    height = TOP + len(rows) * ROW + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height}" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="12">', '<rect width="100%" height="100%" fill="white"/>'
    ]
    for i, row in enumerate(rows):
        y = TOP + i * ROW + 14
        parts.append(text(LEFT - 10, y, row["policy"], "end"))
    for p, (column, title) in enumerate(PANELS.items()):
        x = LEFT + p * (PANEL + GAP)
        parts.append(text(x, TOP - 14, title, weight="bold"))
        largest = max(number(row[column]) for row in rows) or 1
        for i, row in enumerate(rows):
            y = TOP + i * ROW
            length = PANEL * number(row[column]) / largest
            parts.append(f'<rect x="{x}" y="{y + 3}" width="{length:.1f}" '
                         f'height="{ROW - 8}" fill="{BAR}"/>')
            parts.append(text(x + length + 4, y + 14, row[column].strip()))
    return "\n".join(parts + ["</svg>"])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    print(draw(rows))


if __name__ == "__main__":
    main()
