"""Plugins that are classes in Python, named in a spaces file."""
import concurrent.futures
import gc
import logging
import sys

import numpy
import pytest

import tunesmith as ts
from conftest import MATMUL
from plugins_for_tests import MODULE, SEARCH

RELU = "relu:m=64,n=64"


@pytest.fixture
def space(tmp_path):
    """Makes a space that extends `cpu` with these lines, and the files that they name."""
    (tmp_path / "own.py").write_text(MODULE)
    (tmp_path / "search.py").write_text(SEARCH)

    def make(*lines):
        file = tmp_path / "mine.yaml"
        text = "version: 1\nspaces:\n  mine:\n    extends: cpu\n"
        file.write_text(text + "".join(f"    {line}\n" for line in lines))
        return ts.Space.load(file)["mine"]

    return make


def only(module):
    """A space of one module."""
    return f"modules: [{module}]"


def same(sketch, workload=MATMUL):
    """The interpreted results of the sketch and of the unscheduled program."""
    program = ts.Workload(workload).program
    arrays = [numpy.random.default_rng(i).random(buffer.shape, dtype="float32") for i, buffer in enumerate(program.inputs)]
    numpy.testing.assert_allclose(sketch.program.run(*arrays), program.run(*arrays), rtol=1e-4)


def test_a_module_makes_sketches(space):
    own = space("modules+: [{python: own.py:SplitOuter, options: {max_inner: 4}, before: auto_inline}]")
    assert "own.py:SplitOuter" in own.modules and own.plugins["module:own.py:SplitOuter"].startswith("sha256:")
    (applied,) = [event for event in own.explain(RELU) if event["module"] == "own.py:SplitOuter"]
    assert applied["status"] == "applied" and applied["schedules"] == 1
    sketches = own.sketches(RELU)
    assert any("max_innermost=4" in str(sketch.trace) for sketch in sketches)
    for sketch in sketches:
        same(sketch, RELU)
    declined = {event["reason"] for event in own.explain(MATMUL) if event["module"] == "own.py:SplitOuter"}
    assert declined == {"the block is not elementwise"}


def test_a_module_forks_the_space(space):
    sketches = space(only("python: own.py:Forks")).sketches(MATMUL)
    assert len(sketches) == 2
    for sketch in sketches:
        same(sketch)


def test_what_a_primitive_refuses_is_declined(space):
    (event,) = space(only("python: own.py:Refused")).explain(MATMUL)
    assert event["status"] == "declined" and event["reason"].startswith("split: ")


def test_what_a_module_raises_names_it_and_the_place(space, tmp_path):
    with pytest.raises(ts.PluginError, match="own.py:Fails") as caught:
        space(only("python: own.py:Fails")).sketches(MATMUL)
    line = MODULE.splitlines().index("        return 1 // 0") + 1
    assert f"{tmp_path}/own.py:{line}, in apply: ZeroDivisionError" in str(caught.value)
    with pytest.raises(ts.PluginError, match="invalid call of split"):
        space(only("python: own.py:Misuses")).sketches(MATMUL)
    with pytest.raises(ts.UserError, match="module 'own.py:Lacks': apply at block 'C': split.* lacks 'factors'") as caught:
        space(only("python: own.py:Lacks")).sketches(MATMUL)
    assert caught.value.file == str(tmp_path / "own.py") and "schedule.split(schedule.get_block(block))" in caught.value.excerpt
    with pytest.raises(ts.PluginError, match="returned None: expected a Schedule"):
        space(only("python: own.py:Nothing")).sketches(MATMUL)


def test_a_context_lasts_for_one_call(space):
    with pytest.raises(ts.Error, match="valid during one call"):
        space(only("python: own.py:Keeps")).sketches("softmax:m=8,n=8")


def test_finishing_and_root_modules(space):
    own = space(only("multi_level_tiling, python: own.py:Unrolls"))
    sketch = own.sketches(MATMUL)[0]
    assert "unroll_max_step" not in str(sketch.trace)
    assert own.lower(sketch.trace).is_lowered
    root = space(only("python: own.py:Root"))
    assert "my_hint" in str(root.sketches(MATMUL)[0].trace)


def test_a_run_with_all_of_them(space, tmp_path):
    lines = [
        "modules+: [{python: own.py:SplitOuter, before: auto_inline}, {python: own.py:Unrolls}]",
        "search: {python: search.py:Climb, random: 0.5}",
        "cost_model: {python: search.py:Least}",
    ]
    records = tmp_path / "r.db"
    result = ts.tune(MATMUL, space(*lines), trials=24, batch=8, seed=4, threads=2, records=records, progress=None)
    assert result.trials == 24 and result.valid > 0 and result.found
    A, B = (numpy.random.default_rng(seed).random((1, 64, 64), dtype="float32") for seed in (1, 2))
    numpy.testing.assert_allclose(result.best.build()(A, B), A @ B, rtol=1e-4)
    # In the same run again, everything is on record.
    again = ts.tune(MATMUL, space(*lines), trials=24, batch=8, seed=4, threads=2, records=records, progress=None)
    assert again.resumed == again.trials == 24
    # A changed file makes another run.
    (tmp_path / "own.py").write_text(MODULE + "\n# another text\n")
    assert ts.tune(MATMUL, space(*lines), trials=8, batch=8, seed=4, threads=2, records=records, progress=None).resumed == 0


def test_runs_in_threads(space, tmp_path):
    """Each waits for the interpreter's lock while the other has it."""
    own = space("modules+: [{python: own.py:Unrolls}]", "search: {python: search.py:Climb}", "cost_model: {python: search.py:Least}")

    def run(name):
        return ts.tune(MATMUL, own, trials=6, batch=3, threads=1, records=tmp_path / name, progress=None)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, ["a.db", "b.db"], timeout=120))
    assert [result.trials for result in results] == [6, 6]


def test_the_same_seed_proposes_the_same(space):
    def asked(seed):
        search = ts.Search(MATMUL, space("search: {python: search.py:Climb}", "cost_model: {python: search.py:Least}"), seed=seed)
        hashes = []
        for _ in range(2):
            candidates = search.ask(4)
            hashes += [candidate.hash for candidate in candidates]
            search.tell([float(int(candidate.hash[:4], 16) + 1) for candidate in candidates])
        return hashes

    assert asked(5) == asked(5) != asked(6)


def test_a_searcher_made_of_another(space):
    search = ts.Search(MATMUL, space("search: {python: search.py:Hands}"))
    assert len(search.ask(3)) == 3
    search.tell([1.0, 2.0, None])
    assert len(search.ask(3)) == 3


def test_a_searcher_is_held_to_its_contract(space):
    with pytest.raises(ts.PluginError, match="asked for 2 candidates, it proposed 3"):
        ts.Search(MATMUL, space("search: {python: search.py:Greedy}")).ask(2)
    assert ts.Search(MATMUL, space("search: {python: search.py:Ends}")).ask(2) == []


def test_a_cost_model_is_held_to_its_contract(space, tmp_path):
    """The run continues without it."""
    own = space("cost_model: {python: search.py:Odd}")
    result = ts.tune(MATMUL, own, trials=8, batch=4, threads=1, records=tmp_path / "r.db", progress=None)
    assert result.trials == 8 and result.valid > 0


def test_a_model_is_kept_in_a_file(space, tmp_path):
    own = space("search: {kind: evolutionary}", "cost_model: {python: search.py:Least}")
    model = tmp_path / "model"
    ts.tune(MATMUL, own, trials=8, batch=4, threads=1, records=tmp_path / "r.db", model_file=str(model), progress=None)
    assert model.exists() and model.read_bytes().rstrip().endswith(b"8")


def test_a_task_scheduler_chooses(space, tmp_path):
    own = space("search: {kind: random}", "task_scheduler: {python: search.py:InTurn}")
    results = ts.tune([MATMUL, "gmm:n=32,m=64,k=64"], own, trials=32, batch=4, threads=1, records=tmp_path / "r.db", progress=None)
    assert [result.trials for result in results] == [16, 16]


def test_tune_names_them_without_a_spaces_file(tmp_path, monkeypatch):
    (tmp_path / "search.py").write_text(SEARCH)
    monkeypatch.chdir(tmp_path)
    arguments = {"threads": 1, "records": tmp_path / "r.db", "progress": None}
    named = {"search": "search.py:Climb:4,evolutionary", "model": f"{tmp_path}/search.py:Least"}
    result = ts.tune(MATMUL, trials=8, batch=4, **named, **arguments)
    assert result.trials == 8 and result.valid > 0
    results = ts.tune([MATMUL, "gmm:n=32,m=64,k=64"], trials=32, batch=4, scheduler="search.py:InTurn", **arguments)
    assert [one.trials for one in results] == [16, 16]
    with pytest.raises(ts.UserError, match="'few' is not a number of trials"):
        ts.tune(MATMUL, trials=8, search="search.py:Climb:few,evolutionary", **arguments)
    with pytest.raises(ts.UserError, match="has no class 'Climbs'.*did you mean 'Climb'"):
        ts.tune(MATMUL, trials=8, search="search.py:Climbs", **arguments)
    with pytest.raises(ts.UserError, match="model: expected a text, not a class; name it by its file: .*mine.py:CostModel"):
        ts.tune(MATMUL, trials=8, model=ts.CostModel, **arguments)


def test_it_is_said_that_they_are_slower(space, tmp_path, caplog):
    (tmp_path / "said.py").write_text(MODULE)
    with caplog.at_level(logging.WARNING, logger="tunesmith"):
        for _ in range(2):
            space(only("python: said.py:Forks"))
    assert [record.getMessage() for record in caplog.records if "slower" in record.getMessage()] == [
        "module 'Forks' is a class in Python, which one thread at a time runs: slower than one in C++"
    ]


@pytest.mark.parametrize(
    "line, message, place",
    [
        (only("python: own.py:SplitOutr"), "has no class 'SplitOutr'; did you mean 'SplitOuter'?", (5, 23)),
        (only("python: nowhere.py:A"), "nowhere.py cannot be read", (5, 23)),
        (only("python: own.py:NoApply"), "NoApply of .* has no method 'apply', which a module needs", (5, 23)),
        (only("python: own.py:NoModule"), "does not derive from tunesmith.Module", (5, 23)),
        (only("python: search.py:Climb"), "Climb of .* is no module", (5, 23)),
        (only("python: own.py:Stage"), "unknown stage 'finish'; did you mean 'finishing'", (5, 23)),
        (only("{python: own.py:SplitOuter, options: {max_iner: 4}}"), "did you mean 'max_inner'", (5, 53)),
        (only("{python: own.py:SplitOuter, options: {max_inner: x}}"), "expected an integer", (5, 64)),
        (only("{python: own.py:SplitOuter, options: {max_inner: 1}}"), "max_inner: expected 2 or more", (5, 24)),
        ("target: {with: [python: own.py:Forks]}", "the kind 'extension' cannot be written in Python", (5, 29)),
    ],
)
def test_mistakes_are_said_where_they_are(space, tmp_path, line, message, place):
    with pytest.raises(ts.UserError, match=message) as caught:
        space(line)
    error = caught.value
    assert error.file == str(tmp_path / "mine.yaml") and (error.line, error.column) == place
    assert str(error).splitlines()[-1].strip() == "^"


@pytest.mark.parametrize(
    "text, message, line",
    [
        ("class A(:\n", "SyntaxError: invalid syntax", 1),
        ("\nimport nothing_of_this_name\n", "it cannot be run: ModuleNotFoundError", 2),
    ],
)
def test_a_file_that_does_not_run_is_said_with_its_own_line(space, tmp_path, text, message, line):
    (tmp_path / "broken.py").write_text(text)
    with pytest.raises(ts.UserError, match=message) as caught:
        space(only("python: broken.py:A"))
    assert caught.value.file == str(tmp_path / "broken.py") and caught.value.line == line


def test_options_have_defaults(space, tmp_path):
    refused = {"self, a": "keyword-only", "self, *, a": "needs a default", "self, *, a=[]": "not empty", "self, *, a=None": "needs a default"}
    for init, message in refused.items():
        lines = ["import tunesmith as ts", "class A(ts.CostModel):", f"  def __init__({init}): pass", "  def predict(self, candidates): return []"]
        (tmp_path / "options.py").write_text("\n".join(lines))
        with pytest.raises(ts.UserError, match=message):
            space("cost_model: {python: options.py:A}")


def test_options_reach_the_class(space, tmp_path):
    (tmp_path / "options.py").write_text("""
import tunesmith as ts

class All(ts.Module):
    def __init__(self, *, yes=False, n=1, x=0.5, text="t", numbers=(1,), names=("a",)):
        self.all = [yes, n, x, text, numbers, names]
    def apply(self, schedule, block, context):
        return repr(self.all)
""")
    own = space(only("{python: options.py:All, options: {yes: true, n: 3, x: 2, numbers: [4, 5], names: [b]}}"))
    assert own.explain(MATMUL)[0]["reason"] == repr([True, 3, 2.0, "t", [4, 5], ["b"]])


def test_the_command_says_who_runs_it(space, command, tmp_path):
    space(only("python: own.py:Forks"))
    said = command("spaces", "explain", "softmax", "--spaces", str(tmp_path / "mine.yaml"), code=4)
    assert "mine.yaml:5:23: module 'own.py:Forks' is a Python class" in said and "ts.Space.load(" in said


def test_nothing_is_left_behind(space, tmp_path):
    counted = ["import weakref", "ALIVE = weakref.WeakSet()", "class Counted(Forks):", "  def __init__(self):", "    ALIVE.add(self)"]
    (tmp_path / "counted.py").write_text("\n".join([MODULE, *counted]))
    own = space(only("python: counted.py:Counted"))
    alive = sys.modules[max((name for name in sys.modules if name.startswith("tunesmith.plugin_")), key=lambda name: int(name.split("_")[1]))].ALIVE
    assert len(alive) == 1
    del own
    gc.collect()
    assert len(alive) == 0
