"""The report from Python."""
import pytest

import tunesmith as ts


def test_a_page_and_its_data(result, records, tmp_path):
    page = ts.report(records=ts.Records(records), file=tmp_path / "page.html", workloads=[result.workload])
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>") and str(tmp_path) in repr(page)
    [task] = page.data["tasks"]
    assert task["workload"] == str(result.workload) and ts.Records(records).best(result.workload, threads=2)[0].id in str(task["best"])
    assert "srcdoc" in page._repr_html_()
    # One share everywhere.
    [line] = page.data["rooflines"]
    assert line["operations_per_second"] >= result.peak > 0 and line["operations_measured"]["disturbed"] in (True, False)


def test_what_is_not_on_record_is_said(records):
    with pytest.raises(ts.UserError, match="did you mean 'gmm'"):
        ts.report(records=records, workloads=["gmn"])
