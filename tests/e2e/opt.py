#!/usr/bin/env python3
"""`tunesmith opt` as a person uses it. Tests of passes and transformations lie beside them (tests/opt_cases.py)."""
import json
import pathlib

from cli import run, run_test

TRACES = pathlib.Path(__file__).parents[2] / "sdk/examples/traces"
STORE = "program p() -> (O: f32[8])\n  for i in 0..8:\n    O[i{}] = 1.0\n"


def programs_in(text):
    """The programs in `text`, without the text before and between them."""
    found = []
    for line in text.splitlines():
        if line.startswith("program "):
            found.append("")
        if found and (line.startswith("program ") or line.startswith("  ")):
            found[-1] += line + "\n"
    assert found, text
    return found


def what_commands_print_is_read(folder):
    for workload in ("gmm:n=16,m=8,k=4", "softmax:m=4,n=8", "conv_bias_bn_relu"):
        shown = run("workloads", "show", workload).stdout
        assert programs_in(run("opt", "-", input=shown).stdout) == programs_in(shown)
        assert run("opt", workload).stdout == programs_in(shown)[0]
    for name, workload in (("gmm_512", "gmm:n=512,m=512,k=512"), ("gmm_1024_constant", "gmm:n=1024,m=1024,k=1024"), ("softmax_1024", "softmax:m=1024,n=1024")):
        trace = TRACES / f"{name}.trace"
        said = [line for line in trace.read_text().splitlines() if line.startswith("# workload: ")]
        workload = said[0].split(": ", 1)[1] if said else workload
        file = folder / "shown.txt"
        file.write_text(run("trace", "show", trace, "--workload", workload, "--program", "--passes", "--lowered", "--space", "cpu", "--quiet").stdout)
        kept = programs_in(run("opt", file).stdout)
        assert kept == programs_in(file.read_text()) and len(kept) > 3


def passes_are_listed(folder):
    spaces = json.loads(run("spaces", "list", "--json").stdout)["spaces"]
    for options in [[], *(["--space", space["name"]] for space in spaces)]:
        passes = json.loads(run("opt", "--list", "--json", "--quiet", *options).stdout)
        unsaid = [one["name"] for one in passes if not one["help"]]
        assert len(passes) > 10 and (not unsaid or "cuda" in str(options)), (options, unsaid)
    assert "flatten  " in run("opt", "--list").stdout


def what_is_wrong_is_said(folder):
    file = folder / "p.program"
    file.write_text(STORE.format(""))
    for arguments, message in (
            (["--pass", "flaten"], "unknown pass 'flaten'; did you mean 'flatten'?"),
            (["--until", "flaten"], "unknown pass 'flaten'; did you mean 'flatten'?"),
            (["--pass", "place_buffers"], "place_buffers needs the results of lower_blocks"),
            (["--apply", 'b = get_block("C")'], "no instruction can be applied: a store stands outside all blocks"),
            (["--apply", "b = gat_block()"], "--apply:1:5: unknown instruction 'gat_block'; did you mean 'get_block'?")):
        done = run("opt", file, *arguments, code=2)
        assert message in done.stderr and not done.stdout, done.stderr
    assert "no program given" in run("opt", code=2).stderr
    assert "absent.program: there is no such file" in run("opt", "absent.program", code=2).stderr
    assert "--apply:1:1: get_block: " in run("opt", "relu", "--apply", 'b = get_block("none")', code=2).stderr
    assert "<stdin>:3:7: unknown variable 'j'; known: i" in run("opt", "-", input=STORE.format("").replace("[i", "[j"), code=2).stderr


def a_check_finds_what_is_wrong(folder):
    assert not run("opt", "-", "--check", input=STORE.format("")).stderr
    done = run("opt", "-", "--check", input=STORE.format(" + 1"), code=1)
    assert done.stdout == STORE.format(" + 1") and "--check: " in done.stderr and "O[" in done.stderr, done
    faults = json.loads(run("opt", "-", "--check", "--json", input=STORE.format(" + 1"), code=1).stdout)["faults"]
    assert len(faults) == 1


run_test({test.__name__: test for test in (what_commands_print_is_read, passes_are_listed, what_is_wrong_is_said, a_check_finds_what_is_wrong)})
