#!/usr/bin/env python3
"""The page in a browser: it fetches nothing, nothing fails, and every chart is drawn, also in dark mode, on a telephone and on paper.

    browser.py --tunesmith FILE --browser CHROMIUM [--keep FOLDER]

--keep leaves the page and its pictures in a folder, to be looked at."""
import argparse
import pathlib
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # it would lie beside the sources
import report
from devtools import Browser

# For each chart: its height, and whether anything is painted on it.
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
    """Every chart has a table that a key opens."""
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


def expect_nothing_cut(browser, width):
    """All values of all tables are visible without horizontal scrolling."""
    browser.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    browser.evaluate("new Promise((done) => setTimeout(done, 200))")
    cut = browser.evaluate("[...document.querySelectorAll('td, tbody th')].filter((one) => one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)")
    assert not cut, f"on a screen of {width} cells are cut: {cut[:5]}"
    expect_no_overflow(browser, width)


def expect_many_tasks(browser, page):
    """Tables can be closed, searched and sorted, and points of charts lead to their origin."""
    browser.open(page)
    open_tasks = "document.querySelectorAll('details.task[open]').length"
    rows = "[...document.querySelectorAll('table')][0].querySelectorAll('tbody tr:not([hidden])').length"
    first = "document.querySelector('table tbody th').textContent"
    assert browser.evaluate(open_tasks) == 0 and browser.evaluate("document.querySelectorAll('details.task').length") == report.MANY
    height = browser.evaluate("document.documentElement.scrollHeight")
    assert height < 3500, f"{report.MANY} closed tasks take {height} pixels"
    browser.evaluate("{ const s = document.getElementById('search'); s.value = 'n=48 relu'; s.dispatchEvent(new Event('input')); }")
    assert browser.evaluate(rows) == 1 and browser.evaluate("document.querySelectorAll('details.task:not([hidden])').length") == 1
    browser.evaluate("{ const s = document.getElementById('search'); s.value = ''; s.dispatchEvent(new Event('input')); }")
    assert browser.evaluate(rows) == report.MANY
    browser.evaluate("[...document.querySelectorAll('thead button')].find((one) => one.textContent === 'best').click()")
    speeds = "[...document.querySelectorAll('table')[0].querySelectorAll('tbody tr')].map((line) => data.tasks.find((task) => nameOf(task) === line.querySelector('th').textContent).best[0].seconds)"
    ordered = browser.evaluate(speeds)
    assert ordered == sorted(ordered), ordered
    browser.evaluate("{ const s = document.getElementById('order'); s.value = '1 1'; s.dispatchEvent(new Event('change')); }")
    assert browser.evaluate(speeds) == sorted(ordered, reverse=True)
    task = browser.evaluate("data.tasks[3].id")
    browser.evaluate(f"location.hash = '#task-{task}'")
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    assert browser.evaluate(open_tasks) == 1 and browser.evaluate(f"document.getElementById('task-{task}').open"), "a link opens its task"
    chart = f"Chart.getChart(document.querySelector('#task-{task} canvas'))"
    told = browser.evaluate(f"{chart}.options.plugins.tooltip.callbacks.label({{dataset: {chart}.data.datasets[0], raw: {chart}.data.datasets[0].data[0]}})")
    assert any(re.fullmatch("record [0-9a-f]{16}", line) for line in told) and any(re.search(r"fastest sample so far: .* [mµn]?s", line) for line in told), told
    browser.evaluate(f"drawn.find((one) => one.canvas === {chart}.canvas).pick({chart}.data.datasets[0].data[0])")
    picked = browser.evaluate(f"document.querySelector('#task-{task} .picked').textContent")
    command = re.search("tunesmith (records show [0-9a-f]{16}) --database (\\S+)", picked)
    assert command, picked
    report.run(*command[1].split(), "--database", command[2].rstrip(" ("))


def expect_it_keeps_up(browser, folder):
    """One task more than 40 is there by itself, and what was opened and sorted stays."""
    count = 40
    database = report.many(folder, count)
    tasks = "document.querySelectorAll('table')[0].querySelectorAll('tbody tr').length"
    with report.serving(database) as (_, url):
        for width in (1400, 420):
            browser.open(url, width=width)
            assert browser.evaluate(tasks) == count
            browser.evaluate("document.querySelectorAll('details.task')[1].open = true")
            browser.evaluate("[...document.querySelectorAll('thead button')].find((one) => one.textContent === 'best').click()")
            report.run("tune", f"relu:n=16,m={width}", "--trials", 2, "--database", database, "--quiet")
            until = time.monotonic() + report.cli.within(20)
            while browser.evaluate(tasks) == count:
                assert time.monotonic() < until, "the page does not keep up"
                time.sleep(0.2)
            count += 1
            assert browser.evaluate(tasks) == count
            assert browser.evaluate("[...document.querySelectorAll('details.task')].map((task) => task.open).indexOf(true)") == 1, "what was opened stays open"
            assert browser.evaluate("document.querySelectorAll('details.task[open]').length") == 1
            assert browser.evaluate("document.querySelector('table').querySelector('[aria-sort=ascending], [aria-sort=descending]').textContent") == "best"
            expect_no_overflow(browser, width)
            browser.screenshot(folder / f"kept_{width}.png", width)


def expect_outliers_are_cut(browser):
    plot = """(() => {{ const points = [...Array(50).keys()].map((i) => [i / 50, 1 + i % 7]).concat([[0.5, {far}], [0.2, {low}]]);
      const made = xyChart([{{name: "a", line: false, points}}], {{title: "x"}}, {{title: "y", log: {log}}}); const config = made(palette());
      return [config.options.scales.y.max, made.note || "", config.data.datasets[0].data[50].is[1]]; }})()"""
    for log, low in (("false", -1e9), ("true", 1e-9)):
        most, note, told = browser.evaluate(plot.format(far=1e9, low=low, log=log))
        assert most < 1000 and note.startswith("2 points lie beyond the axes") and told == 1e9, (most, note, told)
    assert browser.evaluate(plot.format(far=8, low=0.5, log="false"))[1] == "", "what squashes nothing stays"


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
    if arguments.browser.endswith("-NOTFOUND"):
        print("skipped: no Chromium was found when the build was configured")
        return 77
    report.cli.TUNESMITH = arguments.tunesmith
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
                browser.screenshot(folder / "narrow.png", 390)
                expect_nothing_cut(browser, 390)
                browser.print(folder / "paper.pdf")
                assert (folder / "paper.pdf").stat().st_size > 20_000
            expect_quiet(browser, page)
            if draws:
                expect_outliers_are_cut(browser)
                browser.requests.clear()
                many = folder / "many.html"
                report.run("report", report.many(folder), "--output", many)
                expect_many_tasks(browser, many)
                browser.screenshot(folder / "many.png", 1400)
                browser.open(many, width=420)
                browser.screenshot(folder / "many_narrow.png", 420)
                expect_nothing_cut(browser, 420)
                expect_quiet(browser, many)
            if draws and "libcpp-httplib" not in report.start("report", "--follow", "nowhere").stderr:
                expect_it_keeps_up(browser, folder)
            browser.open(tables)  # the page that keeps up asks no more
            browser.requests.clear()
            browser.open(tables)
            assert "tables only" in browser.evaluate("document.querySelector('.notice').textContent")
            assert browser.evaluate("document.querySelectorAll('canvas').length") == 0
            assert browser.evaluate("[...document.querySelectorAll('figure')].every((one) => one.querySelector('details[open] tbody tr'))")
            expect_quiet(browser, tables)


if __name__ == "__main__":
    sys.exit(main())
