"""The notebooks of docs/notebooks run, cell after cell, and are stored without output."""
import ast
import json
import os
import pathlib

import pytest

SOURCES = os.environ.get("TUNESMITH_SOURCES")
NOTEBOOKS = sorted((pathlib.Path(SOURCES) / "docs/notebooks").glob("*.ipynb")) if SOURCES else []
#: Text that each must print.
PRINTED = {
    "first-kernel": ["baseline", "numpy ", "sample_"],
    "own-module": ["Max   declined  the block is not element-wise", "E     applied", "did you mean 'max_vector'?"],
    "searchers": ["random ", "evolutionary ", "climb ", "32:"],
}


def shown(cell):
    """A cell's text, whose last expression is shown, as a notebook does."""
    tree = ast.parse(cell)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.unparse(tree.body.pop())
        return "\n".join([ast.unparse(tree), f"_shown({last})"])
    return cell


SHOW = """
def _shown(value):
    if value is not None:
        print(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
"""


@pytest.mark.skipif(SOURCES is None, reason="TUNESMITH_SOURCES does not name the sources")
def test_there_are_three():
    assert [book.stem for book in NOTEBOOKS] == sorted(PRINTED)


@pytest.mark.parametrize("book", NOTEBOOKS, ids=lambda book: book.stem)
def test_it_runs(book, python):
    notebook = json.loads(book.read_text())
    assert notebook["nbformat"] == 4 and notebook["metadata"]["kernelspec"]["language"] == "python"
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 4 and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code), "outputs are not kept"
    printed = python(SHOW + "\n".join(shown("".join(cell["source"])) for cell in code))
    for text in PRINTED[book.stem]:
        assert text in printed, printed
