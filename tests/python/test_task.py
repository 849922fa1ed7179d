"""Tasks that are advanced step by step, and searchers with ask and tell."""
import time

import numpy
import pytest

import tunesmith as ts
from conftest import MATMUL


def test_rounds_are_iterated(tmp_path):
    space = ts.Space("cpu")
    task = ts.Task(MATMUL, space=space, trials=24, batch=8, seed=3, threads=1, records=tmp_path / "r.db")
    batches = list(task)
    assert task.done and task.trials == 24 == sum(map(len, batches)) and max(map(len, batches)) <= 8
    best = min(record.seconds for batch in batches for record in batch if record.seconds)
    result = task.finish()
    assert result.trials == 24 and result.found and best > 0
    assert result.best.id in {record.id for record in ts.Records(tmp_path / "r.db").list()}


def test_steps_are_as_many_as_asked(tmp_path):
    task = ts.Task(MATMUL, trials=8, seed=3, threads=1, records=tmp_path / "r.db")
    assert len(task.step(3)) == 3 and task.trials == 3 and not task.done
    assert task.result().best_seconds > 0
    again = ts.Task(MATMUL, trials=8, seed=3, threads=1, records=tmp_path / "r.db")
    assert sum(map(len, again)) == 5, "the first three are taken from the records"
    assert again.trials == 8 and again.done and again.step(1) == []
    with pytest.raises(ts.UserError, match="at least one trial"):
        again.step(0)


def test_the_same_run_as_tune(tmp_path, spaces):
    # Uses a search that does not depend on times, since no two runs measure the same.
    mine = ts.Space.load(spaces)["mine"]
    for name, run in (("a", lambda **all: list(ts.Task(MATMUL, **all))), ("b", lambda **all: ts.tune(MATMUL, progress=None, **all))):
        run(space=mine, trials=12, batch=4, seed=9, threads=1, records=tmp_path / f"{name}.db")
    programs = [[record.as_dict()["program"] for record in ts.Records(tmp_path / f"{name}.db").list() if record.as_dict()["kind"] == "search"] for name in "ab"]
    assert programs[0] == programs[1] and len(programs[0]) == 12


def test_ask_and_tell():
    search = ts.Search(MATMUL, space="cpu", seed=1)
    A, B = (numpy.random.default_rng(seed).random((1, 64, 64), dtype="float32") for seed in (1, 2))
    seen = set()
    for _ in range(2):
        candidates = search.ask(4)
        assert len(candidates) == 4 and not seen & {candidate.hash for candidate in candidates}
        seen |= {candidate.hash for candidate in candidates}
        times = []
        for candidate in candidates:
            kernel = candidate.build(threads=1)
            numpy.testing.assert_allclose(kernel(A, B), A @ B, rtol=1e-4)
            began = time.perf_counter()
            kernel(A, B)
            times.append(time.perf_counter() - began)
        times[-1] = None
        search.tell(times)
    assert search.trials == 8
    assert candidates[0].trace.complete and candidates[0].program.is_lowered


def test_mistakes_are_said_in_words():
    search = ts.Search(MATMUL)
    search.ask(2)
    with pytest.raises(ts.UserError, match="2 candidates of the last ask"):
        search.ask(2)
    with pytest.raises(ts.UserError, match="expected 2 times"):
        search.tell([1.0])
    with pytest.raises(ts.UserError, match="expected seconds above 0"):
        search.tell([1.0, -1.0])
    search.tell([1.0, None])


def test_the_same_seed_asks_the_same():
    def asked(seed):
        search = ts.Search(MATMUL, seed=seed)
        first = [candidate.hash for candidate in search.ask(4)]
        search.tell([1.0, 2.0, 3.0, 4.0])
        return first + [candidate.hash for candidate in search.ask(4)]

    assert asked(5) == asked(5) != asked(6)
