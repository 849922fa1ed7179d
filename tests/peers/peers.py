"""Tests bench/peers without the peers. Usage: peers.py --tunesmith BINARY TEST"""
import argparse
import ast
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import weakref

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "bench/peers"
sys.dont_write_bytecode = True
sys.path.insert(0, str(PEERS))

import estimates  # noqa: E402
import library  # noqa: E402
import machine  # noqa: E402
import ours  # noqa: E402
import results  # noqa: E402
import rows  # noqa: E402
import tvm_program  # noqa: E402

TUNESMITH = ""


def run(*args, code):
    done = subprocess.run([sys.executable, PEERS / "run", *map(str, args)], capture_output=True, text=True, timeout=50)
    assert done.returncode == code, f"{args}: exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


def time_of(value):
    return {"value": value, "interval": [0.9 * value, 1.1 * value], "rounds": 10}


def row(name, own, others, **more):
    return {"section": "GMM", "name": name, "workload": name, "group": False, "commit": "abc1234", "flops": 1e6, "bytes": 1e3, "errors": {}, "declined": {},
            "times": {"tunesmith": time_of(own)} | {peer: time_of(value) for peer, value in others.items()}, "copy": time_of(own / 2),
            "ratios": {peer: time_of(value / own) for peer, value in others.items()}, "share_of_roof": 0.5, "loaded": False} | more


def file_of(folder, *found):
    file = folder / "results.json"
    settings = {"threads": 2, "trials": 128, "seed": 0, "space": "cpu", "rounds": 30}
    file.write_text(json.dumps({"version": 1, "settings": settings, "machine": {"model": "a processor", "versions": {"torch": "1"}}, "rows": list(found)}))
    return file, settings


def the_table_is_of_the_json_alone(folder):
    file, _ = file_of(folder, row("gmm:n=1", 1e-3, {"torch": 2e-3, "onnxruntime": 0.5e-3}), row("gmm:n=2", 2e-6, {"torch": 4e-6, "onnxruntime": 4e-6}),
                      row("stem:h=1", 1e-3, {"torch": 3e-3}, group=True))
    text, _ = run("table", "--output", file, code=0)
    assert "| GMM | `gmm:n=1` | 1 ms (900 µs to 1.1 ms) | 50 % | **0.50** onnxruntime | 2.00 (1.80 to 2.20) | 0.50 (0.45 to 0.55) |" in text, text
    assert "| geometric mean |  |  | **1.00** of 2 | 2.00 of 2 | 1.00 of 2 |" in text, text
    assert text.index("### Operators") < text.index("### Fused groups") < text.index("stem:h=1"), text
    assert "128 trials of `cpu`, seed 0." in text and "Of abc1234." in text, text
    assert "busy" not in text and "Errors" not in text, text
    found = json.loads(file.read_text())
    found["settings"]["trace"] = "by_hand"
    file.write_text(json.dumps(found))
    text, _ = run("table", "--output", file, code=0)
    assert "the trace `by_hand`" in text and "128 trials" not in text, text


def errors_and_busy_rows_are_said(folder):
    wrong = row("gmm:n=1", 1e-3, {"torch": 2e-3}, errors={"onnxruntime": "its result differs by 0.5"})
    failed = {"section": "GMM", "name": "gmm:n=3", "workload": "gmm:n=3", "group": False, "errors": {"tunesmith": "nothing valid"}}
    file, _ = file_of(folder, wrong, row("gmm:n=2", 1e-3, {"torch": 2e-3}, loaded=True), failed)
    text, _ = run("table", "--output", file, code=0)
    assert "2.00 (1.80 to 2.20) | **error** |" in text, text
    assert "| `gmm:n=2`* | 1 ms (900 µs to 1.1 ms) | - |" in text, text
    assert "no results" in text, text
    assert "- `gmm:n=1`, onnxruntime: its result differs by 0.5" in text and "- `gmm:n=3`, tunesmith: nothing valid" in text, text


def a_ratio_keeps_what_both_had_in_common(folder):
    slow = [1.0 + 0.5 * (i % 3) for i in range(30)]  # both are slower in the same rounds
    ratio = estimates.ratio_of([2 * value for value in slow], slow)
    assert abs(ratio["value"] - 2) < 1e-9 and ratio["interval"][1] - ratio["interval"][0] < 1e-9, ratio
    one = estimates.time_of([5.0] + [1.0 + i / 100 for i in range(20)])
    assert one["interval"][0] <= one["value"] <= one["interval"][1] < 1.2, one
    assert estimates.quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert abs(estimates.geometric_mean([0.5, 2.0]) - 1) < 1e-12


class Loads:
    """Watches that see the given loads, one after the other, and a clock that goes on as they sleep."""

    def __init__(self, *loads):
        self.loads, self.time = list(loads), 0.0

    def watch(self):
        load = self.loads.pop(0) if len(self.loads) > 1 else self.loads[0]
        return type("Seen", (), {"others": lambda self: load})()

    def sleep(self, seconds):
        self.time += seconds

    def wait(self, limit, wait):
        return machine.wait_until_quiet(limit, wait, watch=self.watch, sleep=self.sleep, clock=lambda: self.time)


def a_busy_machine_is_refused(folder):
    assert Loads(0.05).wait(0.1, 100) == 0.05
    calm = Loads(1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)  # two quiet windows are not enough
    assert calm.wait(0.1, 100) == 0.0 and calm.time == 14.0, calm.time
    try:
        Loads(0.7).wait(0.1, 10)
        raise AssertionError("accepted a busy machine")
    except machine.Loaded as error:
        assert "0.70 processors busy" in str(error) and "--wait" in str(error), error


def stolen_time_counts_as_others(folder):
    ticks = os.sysconf("SC_CLK_TCK")
    seen = iter([f"cpu {100 * ticks} 0 0 500 0 0 0 0 0 0\n", f"cpu {103 * ticks} 0 0 500 0 0 0 {ticks} 0 0\n"])
    own = iter([10.0, 12.0])
    clock = iter([0.0, 4.0])
    watched = machine.Watch(lambda: machine.processor_seconds(next(seen)), lambda: next(own), lambda: next(clock))
    assert watched.others() == 0.5, "4 s busy or stolen in 4 s, of which 2 are our own"


def results_go_on_and_settings_do_not_mix(folder):
    file, settings = file_of(folder, row("gmm:n=1", 1e-3, {}), row("gmm:n=2", 1e-3, {}, loaded=True), {"name": "gmm:n=3", "errors": {"tunesmith": "?"}})
    found = results.Results(file, settings, {"model": "a processor"})
    assert [found.has(f"gmm:n={n}") for n in (1, 2, 3, 4)] == [True, False, False, False]
    assert [found.has(f"gmm:n={n}", busy_too=True) for n in (1, 2, 3, 4)] == [True, True, False, False]
    found.put(row("gmm:n=3", 2e-3, {}))
    assert [one["name"] for one in results.load(file)["rows"]] == ["gmm:n=1", "gmm:n=2", "gmm:n=3"]
    assert results.Results(file, settings, {"model": "a processor"}).has("gmm:n=3")
    for other_settings, model, said in ((settings | {"trials": 64}, "a processor", "other trials"), (settings | {"trace": "by_hand"}, "a processor", "other trace"),
                                        (settings, "another", "another machine")):
        try:
            results.Results(file, other_settings, {"model": model})
            raise AssertionError("mixed")
        except results.Mismatch as error:
            assert said in str(error), error


def rows_are_the_suite_and_twelve_groups(folder):
    both = rows.select(False, False, "")
    assert len(both) == 99 and sum(one.is_group for one in both) == 12, len(both)
    assert len(rows.select(True, False, "")) == 87 and len(rows.select(False, True, "")) == 12
    assert [one.section for one in rows.select(False, False, "^SFM .*2048")] == ["SFM"]
    assert len(rows.select(True, False, "", headlines=True)) == len(rows.HEADLINES)
    product = rows.select(True, False, "gmm:b=1,n=1024.*k=1024$")[0]
    assert product.tuned == product.workload + ",constant_b=1"
    assert rows.parameters("gmm:b=1,dtype=f32") == ("gmm", {"b": 1, "dtype": "f32"})


def arguments_are_refused(folder):
    for args, said in ((["measure", "--only", "("], "not a regular expression"), (["measure", "--peers", "torch,tensorflow"], "no peer is called 'tensorflow'"),
                       (["measure", "--trials", "0"], "not a positive number"), (["measure", "--threads", "many"], "not a positive number"),
                       ([], "COMMAND"), (["measures"], "invalid choice")):
        _, errors = run(*args, code=2)
        assert said in errors, errors
    _, errors = run("measure", "--env", folder / "none", code=4)
    assert "run `bench/peers/run install`" in errors, errors
    for only, said in (("attention", "--trace is for one row"), ("attention:n=384,d=64", "none.trace does not exist")):
        _, errors = run("measure", "--trace", folder / "none.trace", "--only", only, code=4)
        assert said in errors, errors
    _, errors = run("table", "--output", folder / "none.json", code=4)
    assert "measure first" in errors, errors
    help_text, _ = run("measure", "--help", code=0)
    for option in ("--rows", "--groups", "--only", "--peers", "--trials", "--seed", "--space", "--again", "--wait", "--allow-load", "--trace"):
        assert option in help_text, option


def shown(workload):
    done = subprocess.run([TUNESMITH, "workloads", "show", workload, "--json"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, f"{workload}: {done.stderr}"
    return json.loads(done.stdout)


def a_signature_is_read(folder):
    about = ours.describe(TUNESMITH, "gmm:n=4,m=5,k=6,dtype=u8,b_dtype=i8,constant_b=1")
    assert about["arrays"] == {"inputs": [{"name": "A", "dtype": "u8", "shape": [1, 4, 6], "constant": False},
                                          {"name": "B", "dtype": "i8", "shape": [1, 6, 5], "constant": True}],
                               "output": {"name": "C", "dtype": "i32", "shape": [1, 4, 5], "constant": False}}, about
    assert about["flops"] == 240, about
    try:
        ours.describe(TUNESMITH, "gmmm")
        raise AssertionError("accepted")
    except ours.Failed as error:
        assert "gmm" in str(error), error


def a_call_keeps_the_librarys_memory(folder):
    """The prepared memory was freed before the first call."""
    made = library.Library.__new__(library.Library)
    made._raw, made._buffers, made.output = lambda buffers: 0, None, "result"
    call, alive = made.call(), weakref.ref(made)
    del made
    assert alive() is not None and call() == "result"


def a_program_becomes_a_script(folder):
    source = tvm_program.script(shown("dense_bias_gelu:n=2,m=3,k=4")["program"])
    for part in ("b_W: T.Buffer((4, 3,), 'float32')", "'layout_free_buffers': [1]", "for i, j, r in T.grid(2, 3, 4):", "T.axis.remap('SSR', [i, j, r])",
                 "b_D[vi, vj] = b_D[vi, vj] + b_X[vi, vr]*b_W[vr, vj]", "T.erf(b_T[vi, vj]*T.float32(0.70710677))"):
        assert part in source, source
    assert "b_P[vn, vx, vc] = T.if_then_else(0 <= vx - 1 and vx - 1 < 8, b_X[vn, vx - 1, vc], T.uint8(0))" in tvm_program.script(
        shown("conv1d:l=8,ci=4,co=4,dtype=u8,w_dtype=i8")["program"])


def every_row_is_known(folder):
    """Every row's operator has a case, and the file of every group is accepted."""
    known = set()
    for file, table in (("operators.py", "OPERATORS"), ("groups.py", "GROUPS")):
        for node in ast.walk(ast.parse((PEERS / file).read_text())):
            if isinstance(node, ast.FunctionDef):
                known.add(node.name)
            elif isinstance(node, ast.Dict):
                known |= {key.value for key in node.keys if isinstance(key, ast.Constant)}
    for one in rows.select(False, False, ""):
        assert rows.parameters(one.name)[0] in known, one
        if one.is_group:
            about = ours.describe(TUNESMITH, one.tuned)
            ast.parse(tvm_program.script(shown(one.tuned)["program"]))
            assert any(array["constant"] for array in about["arrays"]["inputs"]) or "attention" in one.name, one


TESTS = {name: value for name, value in globals().items() if callable(value) and getattr(value, "__code__", None)
         and value.__code__.co_varnames[:value.__code__.co_argcount] == ("folder",)}


def main():
    global TUNESMITH
    parser = argparse.ArgumentParser()
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("test", choices=sorted(TESTS))
    given = parser.parse_args()
    TUNESMITH = os.path.abspath(given.tunesmith)
    with tempfile.TemporaryDirectory(prefix="tunesmith-peers-") as folder:
        TESTS[given.test](pathlib.Path(folder))


if __name__ == "__main__":
    main()
