"""The code on docs/python.md runs, in its order, and prints what it says."""
import os
import pathlib
import re
import sys

import pytest

SOURCES = os.environ.get("TUNESMITH_SOURCES")


@pytest.mark.skipif(SOURCES is None, reason="TUNESMITH_SOURCES does not name the sources")
def test_the_page_runs(tmp_path, python):
    page = (pathlib.Path(SOURCES) / "docs/python.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) >= 8 and sys.version_info >= (3, 11)
    printed = python("\n".join(blocks))
    assert "argument 2, 'B': expected f32[1, 64, 64], not f64[1, 64, 64]; arguments are not converted" in printed
    assert "did you mean 'softmax'?" in printed and "GFLOP/s" in printed and "% of the peak" in printed
    assert (tmp_path / "lib/libgmm.so").exists()
