#!/usr/bin/env python3
"""Draws the picture of the README from the tables of tuned.md and by-hand.md: prints an SVG. Usage: plot.py > libraries.svg

On the left, what a search reaches of the machine's peak; on the right, schedules written by hand beside OpenBLAS and oneDNN."""
import html
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
INK, PALE, GRID, FOUND = "#1f2933", "#52606d", "#d9dee3", "#7b4fa3"
COLOURS = {"OpenBLAS": "#0072b2", "oneDNN": "#d55e00", "packed": "#009e73"}
LABELS = {"OpenBLAS": "OpenBLAS", "oneDNN": "oneDNN", "packed": "oneDNN, weights packed ahead"}
WIDTH, TOP, ROW = 960, 96, 30


def said(page, key):
    """The rest of the page's line "KEY: ..."."""
    return re.search(rf"^{key}: (.*)$", page, re.MULTILINE)[1]


def table(page):
    """The first table of a page: its rows as lists of cells, the head first."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def numbers(text):
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def searches(page):
    """(name, medians, lowest, highest) of the searches of 128 trials, in percent."""
    head, *rows = table(page)
    found = []
    for row in rows:
        cells = dict(zip(head, row))
        if cells["trials"] != "128":
            continue
        *medians, low, high = numbers(cells["measured, %"])
        name = cells["workload"].strip("`")
        found.append((name + (" (of a copy)" if "copying" in cells["goal, %"] else ""), medians, low, high))
    return found


def by_hand(page):
    """(trace, {library: (lowest, highest)}) on one core: how many times as long the library takes."""
    head, *rows = table(page)
    found = []
    for row in rows:
        cells = dict(zip(head[:7], row[:7]))
        ratios = {library: tuple(numbers(cells[library])) for library in COLOURS if cells[library]}
        found.append((re.search("`(.*?)`", cells["trace"])[1], {library: (values[0], values[-1]) for library, values in ratios.items()}))
    return found


class Picture:
    def __init__(self):
        self.parts = []

    def text(self, x, y, text, size=12, colour=INK, anchor="start", weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}">{html.escape(text)}</text>')

    def bar(self, x1, x2, y, height, colour, opacity=1.0):
        self.parts.append(f'<rect x="{x1:.1f}" y="{y:.1f}" width="{max(x2 - x1, 2.5):.1f}" height="{height:.1f}" rx="1.5" fill="{colour}" fill-opacity="{opacity}"/>')

    def line(self, x1, y1, x2, y2, colour, width=1):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>')

    def dot(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>')


    def svg(self, title, height):
        """The whole file."""
        opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" role="img">'
        return "\n".join([opening, f"<title>{title}</title>", f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', *self.parts, "</svg>"])


def axis(picture, ticks, place, bottom, emphasised, unit):
    for tick in ticks:
        strong = tick == emphasised
        picture.line(place(tick), TOP - 6, place(tick), bottom, PALE if strong else GRID, 1.5 if strong else 1)
        picture.text(place(tick), bottom + 16, f"{tick:g}{unit}", 11, INK if strong else PALE, "middle")


def draw_searches(picture, rows):
    left, right, bottom = 24, 424, TOP + len(rows) * 2 * ROW
    place = lambda percent: left + (right - left) * percent / 125
    picture.text(left, 62, "Found by a search of 128 trials", 14, weight="bold")
    picture.text(left, 80, "its speed in % of the machine's peak, measured beside it (two cores)", 11, PALE)
    axis(picture, (0, 25, 50, 75, 100, 125), place, bottom, 100, " %")
    for index, (name, medians, low, high) in enumerate(rows):
        y = TOP + index * 2 * ROW
        picture.text(left + 4, y + 14, name, 11)
        picture.bar(place(low), place(high), y + 24, 10, FOUND, 0.35)
        for median in medians:
            picture.dot(place(median), y + 29, FOUND)
    picture.bar(left + 4, left + 18, bottom + 28, 9, FOUND, 0.35)
    picture.text(left + 24, bottom + 37, "all nine results", 11)
    picture.dot(left + 134, bottom + 33, FOUND)
    picture.text(left + 144, bottom + 37, "medians of three runs", 11)


def draw_by_hand(picture, rows):
    label, left, right, bottom = 464, 600, 936, TOP + len(rows) * ROW
    low, high = 0.5, 2.0
    place = lambda ratio: left + (right - left) * (ratio - low) / (high - low)
    picture.text(label, 62, "Written by hand, compiled by Tunesmith", 14, weight="bold")
    picture.text(label, 80, "the library's time / Tunesmith's (one core): right of 1, Tunesmith is faster", 11, PALE)
    axis(picture, (0.5, 0.75, 1, 1.25, 1.5, 1.75, 2), place, bottom, 1, "")
    for index, (name, ratios) in enumerate(rows):
        y = TOP + index * ROW
        picture.text(label, y + 17, name, 11)
        first = y + 13 - 4 * len(ratios)
        for place_of, (library, (slow, fast)) in enumerate(ratios.items()):
            assert low <= slow <= fast <= high, (name, library, ratios)
            picture.bar(place(slow), place(fast), first + place_of * 8, 6, COLOURS[library])
    x = label
    for library, text in LABELS.items():
        picture.bar(x, x + 14, bottom + 28, 9, COLOURS[library])
        picture.text(x + 20, bottom + 37, text, 11)
        x += 36 + 7 * len(text)
    return bottom


def main():
    tuned, hand = ((FOLDER / name).read_text() for name in ("tuned.md", "by-hand.md"))
    assert said(tuned, "Measured") == said(hand, "Measured") and said(tuned, "On") == said(hand, "On"), "the tables are not of one machine and day"
    picture = Picture()
    picture.text(24, 32, "How fast are the programs?", 17, weight="bold")
    draw_searches(picture, searches(tuned))
    bottom = draw_by_hand(picture, by_hand(hand))
    picture.text(24, bottom + 66, f"{said(hand, 'Measured')}, {said(hand, 'On')}; {said(hand, 'Libraries')}.", 11, PALE)
    print(picture.svg("Tunesmith's programs beside the machine's peak, OpenBLAS and oneDNN", bottom + 82))


if __name__ == "__main__":
    main()
