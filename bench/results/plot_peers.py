#!/usr/bin/env python3
"""Draws the README's picture of networks and operators beside other tools, from the tables of networks.md and operators.md: prints an SVG.
Usage: plot_peers.py > peers.svg"""
import math
import re

from picture import FOLDER, FOUND, INK, PALE, TOP, Picture, axis, said, table

ROW = 24
LOW, HIGH = 0.5, 8.0
TICKS = (0.5, 1, 2, 4, 8)
SECTIONS = {
    "GMM": "matrix products", "C1D": "convolutions, 1-D", "C2D": "convolutions, 2-D", "C3D": "convolutions, 3-D", "DEP": "depthwise", "DIL": "dilated", "GRP": "grouped",
    "T2D": "transposed", "CAP": "capsules", "NRM": "norm of a matrix", "SFM": "softmax", "CBR": "convolution, bias, norm, relu", "TBG": "attention scores",
    "DBG": "dense, bias, GELU", "DNB": "dense, bias", "RD1": "sums of vectors", "RD2": "sums of rows", "LNM": "layer norm", "MXP": "max pooling", "AVP": "average pooling",
    "EWC": "element-wise chains", "RLU": "relu", "GM8": "products of bytes", "GMB": "products in bf16", "C28": "convolutions of bytes", "C2B": "convolutions in bf16",
}


def networks(page):
    """(name, fastest other over Tunesmith)"""
    head, *rows = table(page[page.index("## All networks"):])
    found = [(row[0], float(row[head.index("fastest other over Tunesmith")])) for row in rows]
    return sorted(found, key=lambda one: -one[1])


def operators(page):
    """(section, ratios of its shapes)"""
    head, *rows = table(page)
    found = {}
    for row in rows:
        if row[0]:
            found.setdefault(row[0], []).append(float(re.match(r"\*\*([\d.]+)\*\*", row[head.index("fastest library")])[1]))
    return [(SECTIONS[section], ratios) for section, ratios in found.items()]


def draw(picture, label, left, right, title, rows):
    bottom = TOP + len(rows) * ROW
    place = lambda ratio: left + (right - left) * math.log(ratio / LOW) / math.log(HIGH / LOW)  # noqa: E731
    picture.text(label, 62, title, 14, weight="bold")
    picture.text(label, 80, "the fastest other's time / Tunesmith's: right of 1, Tunesmith is faster", 11, PALE)
    axis(picture, TICKS, place, bottom, 1, "")
    for index, (name, ratios) in enumerate(rows):
        y = TOP + index * ROW
        picture.text(label, y + 16, name, 11, INK)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        picture.bar(place(min(1, mean)), place(max(1, mean)), y + 7, 10, FOUND, 0.35)
        for ratio in ratios:
            assert LOW <= ratio <= HIGH, (name, ratio)
            picture.dot(place(ratio), y + 12, FOUND)
    return bottom


def main():
    of_networks, of_operators = ((FOLDER / name).read_text() for name in ("networks.md", "operators.md"))
    picture = Picture()
    picture.text(24, 32, "Beside PyTorch, onnxruntime, oneDNN, MKL and OpenBLAS", 17, weight="bold")
    left = draw(picture, 24, 170, 448, "Networks", [(name, [ratio]) for name, ratio in networks(of_networks)])
    right = draw(picture, 480, 660, 936, "Operators: each shape, and their mean", operators(of_operators))
    bottom = max(left, right)
    picture.text(24, bottom + 42, f"{said(of_operators, 'Measured')}, {said(of_operators, 'On')}; two threads, f32, weights constant.", 11, PALE)
    print(picture.svg("Tunesmith's networks and operators beside other tools", bottom + 58))


if __name__ == "__main__":
    main()
