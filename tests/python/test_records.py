"""Records: queries, pickling, tables."""
import pickle

import pytest

import tunesmith as ts
from conftest import MATMUL


def test_the_best(result, records):
    store = ts.Records(records)
    best = store.best(MATMUL, n=5, threads=2)
    assert 1 < len(best) <= 5 and best[0].id == result.best.id and len(store) >= 16
    assert all(record.failure is None and record.seconds > 0 and record.samples for record in best)
    assert best[0].trace == result.best.trace and best[0] == result.best and hash(best[0]) == hash(result.best)
    assert store.find(best[0].id[:8]) == best[0]
    assert {record.id for record in best} <= {record.id for record in store.list(MATMUL, ok=True)}
    assert len(store.list(ok=False)) + len(store.list(ok=True)) == len(store)


def test_pickles(result, tmp_path):
    record = pickle.loads(pickle.dumps(result.best))
    assert record == result.best and record.trace == result.best.trace and record.workload == result.workload
    assert record.as_dict() == result.best.as_dict()


def test_what_is_not_there_is_said(result, records, tmp_path):
    store = ts.Records(records)
    with pytest.raises(ts.NoRecord, match="no record of gmm"):
        store.best("gmm:n=8,m=8,k=8")
    with pytest.raises(ts.UserError, match="no record 'ffff"):
        store.find("ffffffffffff0000")
    with pytest.raises(ts.UserError, match="missing.db"):
        ts.Records(tmp_path / "missing.db").list()


def test_a_table(result, records):
    pandas = pytest.importorskip("pandas")
    frame = ts.Records(records).frame(MATMUL)
    assert len(frame) >= 16 and {"seconds", "failure", "space", "program"} <= set(frame.columns)
    assert frame.loc[result.best.id].seconds == result.best.seconds
    assert frame.time.dtype.kind == "M" and isinstance(frame, pandas.DataFrame)
