#!/usr/bin/env python3
"""Draws speed against trials from the tables of docs/proposals.md: prints an SVG. Usage: plot_first_programs.py > first-programs.svg"""
import math

from picture import FOLDER, FOUND, GRID, INK, PALE, TOP, Picture, table

BOTTOM, LEAST = 380, 0.15
COLOURS = (PALE, FOUND, "#c05621", "#2b6cb0")


def draw(picture, left, title, rows):
    """A panel: a line for each column, over trials from 1 to 128."""
    head, *rows = rows
    x = lambda trials: left + 40 * math.log2(trials)  # noqa: E731
    y = lambda speed: BOTTOM - (BOTTOM - TOP) * (speed - LEAST) / (1 - LEAST)  # noqa: E731
    picture.text(left, 66, title, 14, weight="bold")
    for speed in (0.2, 0.4, 0.6, 0.8, 1.0):
        picture.line(left, y(speed), x(128), y(speed), GRID)
        picture.text(left - 8, y(speed) + 4, f"{speed:g}", 11, PALE, "end")
    for trials in (1, 2, 4, 8, 16, 32, 64, 128):
        picture.text(x(trials), BOTTOM + 16, f"{trials}", 11, PALE, "middle")
    for column, (name, colour) in enumerate(zip(head[1:], COLOURS), start=1):
        places = [(x(float(row[0].split()[0])), y(float(row[column].split()[0]))) for row in rows]
        for (x1, y1), (x2, y2) in zip(places, places[1:]):
            picture.line(x1, y1, x2, y2, colour, 2)
        for place in places:
            picture.dot(*place, colour)
        picture.line(left + 150, BOTTOM - 20 * column - 4, left + 166, BOTTOM - 20 * column - 4, colour, 3)
        picture.text(left + 172, BOTTOM - 20 * column, name.replace("`", ""), 11, INK)


def main():
    page = (FOLDER.parent.parent / "docs" / "proposals.md").read_text()
    picture = Picture()
    picture.text(24, 32, "The share of the best speed, against programs timed", 17, weight="bold")
    draw(picture, 60, "The first of 128 draws, ten tables", table(page[page.index("## The first program"):]))
    draw(picture, 540, "Searches, five tables", table(page[page.index("## Baselines"):]))
    print(picture.svg("Speed against trials", BOTTOM + 34))


if __name__ == "__main__":
    main()
