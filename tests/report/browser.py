#!/usr/bin/env python3
"""The page in a browser: nothing is fetched, nothing fails, every chart is drawn, in the dark, on a telephone and on paper, too.

    browser.py --tunesmith FILE --browser CHROMIUM [--keep FOLDER]

--keep leaves the page and its pictures in a folder, to be looked at."""
import argparse
import pathlib
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # beside the sources
import report
from devtools import Browser

# Of each chart: its height, and whether anything is painted on it.
CHARTS = """[...document.querySelectorAll("canvas")].map((canvas) => ({height: canvas.height, label: canvas.getAttribute("aria-label"),
  painted: canvas.width > 0 && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0)}))"""
TEXT_COLOUR = "Chart.getChart(document.querySelector('canvas')).options.scales.x.ticks.color"
GROUND = "getComputedStyle(document.body).backgroundColor"


def expect_quiet(browser, page):
    outside = [url for url in browser.requests if url not in (f"file://{page}", "about:blank")]
    assert not outside, f"the page asked for {outside}"
    assert not browser.complaints, browser.complaints


def expect_charts(browser):
    charts = browser.evaluate(CHARTS)
    assert len(charts) >= 10, charts
    blank = [chart["label"] for chart in charts if not chart["painted"]]
    assert not blank, f"nothing is drawn: {blank}"
    assert all(re.match(r".+\. .+ The table below has the data\.", chart["label"]) for chart in charts), charts


def expect_tables(browser):
    """Every chart has a table, which a key opens."""
    figures = browser.evaluate("document.querySelectorAll('figure').length")
    closed = browser.evaluate("document.querySelectorAll('figure > details:not([open])').length")
    assert figures == closed > 0, (figures, closed)
    browser.evaluate("document.querySelector('figure summary').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r" if kind == "keyDown" else "", windowsVirtualKeyCode=13)
    assert browser.evaluate("document.querySelector('figure > details').open"), "a key does not open a table"
    browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    browser.evaluate("new Promise((done) => setTimeout(done, 200))")
    empty = browser.evaluate("[...document.querySelectorAll('figure > details')].filter((one) => !one.querySelector('tbody tr')).length")
    assert empty == 0, f"{empty} tables have no rows"


def expect_no_overflow(browser, width):
    wide = browser.evaluate("document.documentElement.scrollWidth")
    assert wide <= width, f"the page is {wide} wide on a screen of {width}"


def expect_in_view(browser, width, headings):
    """Of the table of tasks, without scrolling."""
    ends = browser.evaluate("[...document.querySelector('table').querySelectorAll('thead th')].map((one) => [one.textContent, one.getBoundingClientRect().right])")
    hidden = [title for title in headings if dict(ends)[title] > width]
    assert not hidden, f"on a screen of {width} columns are out of view: {hidden}"


def in_tables_alone(page):
    """The page of a Tunesmith that was built without the library."""
    text, found = re.subn(r"<script>\n/\*\nFormat: .*?</script>", "", page.read_text(), count=1, flags=re.DOTALL)
    tables = page.with_name("tables.html")
    tables.write_text(text)
    return tables, found == 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("--browser", required=True)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    report.TUNESMITH = arguments.tunesmith
    with tempfile.TemporaryDirectory(prefix="tunesmith-browser-") as name:
        folder = pathlib.Path(arguments.keep or name).absolute()
        page = folder / "report.html"
        report.run("report", report.tuned(folder), "--measure-roofs", "--comparison", report.compared(folder), "--output", page)
        tables, draws = in_tables_alone(page)
        with Browser(arguments.browser, name) as browser:
            if draws:
                browser.open(page)
                expect_charts(browser)
                light = browser.evaluate(TEXT_COLOUR), browser.evaluate(GROUND)
                browser.screenshot(folder / "light.png", 1200)
                expect_tables(browser)
                browser.open(page, scheme="dark")
                expect_charts(browser)
                dark = browser.evaluate(TEXT_COLOUR), browser.evaluate(GROUND)
                assert light[0] != dark[0] and light[1] != dark[1], (light, dark)
                browser.screenshot(folder / "dark.png", 1200)
                browser.open(page, width=390)
                expect_charts(browser)
                expect_no_overflow(browser, 390)
                expect_in_view(browser, 390, ("task", "best", "speed"))
                browser.screenshot(folder / "narrow.png", 390)
                browser.print(folder / "paper.pdf")
                assert (folder / "paper.pdf").stat().st_size > 20_000
            expect_quiet(browser, page)
            browser.requests.clear()
            browser.open(tables)
            assert "tables only" in browser.evaluate("document.querySelector('.notice').textContent")
            assert browser.evaluate("document.querySelectorAll('canvas').length") == 0
            assert browser.evaluate("[...document.querySelectorAll('figure')].every((one) => one.querySelector('details[open] tbody tr'))")
            expect_quiet(browser, tables)


if __name__ == "__main__":
    main()
