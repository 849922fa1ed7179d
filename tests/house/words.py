#!/usr/bin/env python3
"""Are the field's terms used? Usage: words.py ROOT docs|code...

Looks for words that this project once used in the place of a standard term, and says which term is meant: docs in pages, code in
names, comments and messages. docs/faq.md has the terms. Measurements (bench/results) and the changelog are history and stay."""
import os
import pathlib
import re
import sys

# What is looked for, and what is meant.
TERMS = [
    (r"\bkMost(?=[A-Z]|\b)", "kMax..."),
    (r"\bkLeast(?=[A-Z]|\b)", "kMin..."),
    (r"\blearnt(?=_|\b)", "learned"),
    (r"\b(?:goes|go|went) on\b", "continue"),
    (r"\b(?:is|are|be|were) held against\b", "compared with"),
    (r"\b(?:take|takes|taken) up\b|\btake_up\b|\bTakenUp\b", "resume"),
    (r"\bjudge[sd]?\b|\bjudge_\w+|\w+Judge\b", "evaluate"),
    (r"\blone\b|\blone_\w+|\bLone[A-Z]\w+", "single, independent"),
    (r"\bshared out\b", "distributed"),
    (r"\btrain\w* ahead\b", "pre-train"),
    (r"\bthat is none\b", "say what it is not"),
]
# Where a word is what it says: the only readers of their subject's language.
ALLOWED = {("docs/faq.md", "continue")}
CODE = ("core", "schema", "performance", "grid", "tiling", "evaluation", "network", "proposals", "operators", "verification", "measuring", "plugins", "packs", "targets", "searchers", "costmodels",
        "task_schedulers", "importers", "runners", "sdk", "tools", "python")


def found(text):
    """(line, word, term) of each word that is not the field's."""
    return [(number, match[0], term) for number, line in enumerate(text.splitlines(), 1) for pattern, term in TERMS for match in re.finditer(pattern, line)]


def pages(root):
    yield from sorted(root.glob("docs/*.md"))
    yield from (root / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md"))


def sources(root):
    for folder in CODE:
        yield from (path for path in sorted((root / folder).rglob("*")) if path.suffix in (".h", ".c", ".cpp", ".cuh", ".yaml", ".in"))


def main():
    for wrong in ("constexpr int kMostBlock", "has learnt from", "learnt_by(x)", "the run goes on without it", "is held against it", "judge_scores(a)", "DisturbanceJudge judge",
                  "LoneLaunches", "a lone launch", "trained ahead", "Task::take_up(x)"):
        assert found(wrong), wrong
    for right in ("kMaxBlock", "almost", "kMostly", "learned", "goes only", "a standalone clone", "judgement", "take_update", "ahead of time"):
        assert not found(right), right
    root = pathlib.Path(sys.argv[1])
    of = {"docs": pages, "code": sources}
    faults = [f"{os.path.relpath(path, root)}:{line}: '{word}': say '{term}'" for kind in sys.argv[2:] for path in of[kind](root)
              for line, word, term in found(path.read_text()) if (os.path.relpath(path, root), term) not in ALLOWED]
    assert not faults, "words that are not the field's (docs/faq.md):\n" + "\n".join(faults)


if __name__ == "__main__":
    main()
