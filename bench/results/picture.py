"""Draws the pictures of this folder's tables."""
import html
import itertools
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent
INK, PALE, GRID, FOUND = "#1f2933", "#52606d", "#d9dee3", "#7b4fa3"
WIDTH, TOP = 960, 96


def said(page, key):
    """The text after "KEY: " on the page."""
    return re.search(rf"^{key}: (.*)$", page, re.MULTILINE)[1]


def table(page):
    """The rows of a page's first table as lists of cells, the head first."""
    of_tables = itertools.groupby(page.splitlines(), lambda line: line.startswith("|"))
    lines = next(list(lines) for is_table, lines in of_tables if is_table)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0], *rows[2:]]


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
        """The file's text."""
        opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="Helvetica, Arial, sans-serif" role="img">'
        return "\n".join([opening, f"<title>{title}</title>", f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', *self.parts, "</svg>"])


def axis(picture, ticks, place, bottom, emphasised, unit):
    for tick in ticks:
        strong = tick == emphasised
        picture.line(place(tick), TOP - 6, place(tick), bottom, PALE if strong else GRID, 1.5 if strong else 1)
        picture.text(place(tick), bottom + 16, f"{tick:g}{unit}", 11, INK if strong else PALE, "middle")
