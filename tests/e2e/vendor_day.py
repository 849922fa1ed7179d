#!/usr/bin/env python3
"""A vendor's day against an installed Tunesmith: a pack with an instruction as data, what `plugins verify`, `tune` and `trace` say of one wrong
letter in it, and what the commands say of plugins. Usage: vendor_day.py --prefix PREFIX"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import tempfile

PACK = """cmake_minimum_required(VERSION 3.25)
project(acme VERSION 1.0.0 LANGUAGES CXX)
find_package(tunesmith REQUIRED)
foreach(name acme_relu acme_absent)
  tunesmith_add_plugin(${name} extension PACK ${name}.yaml)
  tunesmith_add_pack(${name}_pack VERSION 1.0.0 VENDOR Acme LICENCE MIT PLUGINS ${name})
endforeach()
"""
UNIT = """extension: acme_relu
description: Four rectified numbers at once.
target: llvm
quantities: {acme_lanes: 4}
intrinsics:
  - name: acme_relu_4
    semantics: |
      inputs: {X: {shape: [4], dtype: f32}}
      compute: |
        O[j<4] = max(X[j], 0)
      outputs: [O]
    implementation:
      arguments: [X]
      fragment: |
        %z = fcmp ogt <4 x float> %X, zeroinitializer
        %r = select <4 x i1> %z, <4 x float> %X, <4 x float> zeroinitializer
        ret <4 x float> %r
"""
SPACES = """version: 1
spaces:
  acme:
    extends: cpu
    target: {with+: [./acme_relu.yaml]}
    modules:
      - script: {match: [O], trace: "i, j = get_loops(block)\\nj0, j1 = split(j, [None, 4])\\nt = tensorize(j1, \\"acme_relu_4\\")"}
  registers:
    extends: acme
    modules:
      - script:
          match: [O]
          trace: |
            w = cache_write(block, 0, "register")
            i, j = get_loops(block)
            v0, v1 = sample_perfect_tile(j, n=2, max_innermost=4)
            j0, j1 = split(j, [None, 4])
            reverse_compute_at(w, j0)
            t = tensorize(j1, "acme_relu_4")
  absent: {extends: acme, target: {with+: [./acme_absent.yaml]}}
"""


class Day:
    def __init__(self, prefix, folder):
        self.prefix, self.folder = pathlib.Path(prefix).resolve(), pathlib.Path(folder)

    def run(self, *command, code=0, stderr=True):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, f"{command}: exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}"
        return done.stdout + (done.stderr if stderr else "")

    def tunesmith(self, *arguments, code=0, stderr=True):
        return self.run(self.prefix / "bin" / "tunesmith", *arguments, code=code, stderr=stderr)

    def unit(self, text):
        (self.folder / "acme_relu.yaml").write_text(text)
        self.run("cmake", "--build", "build")

    def verify(self, code):
        report = json.loads(self.tunesmith("plugins", "verify", "build/plugins/acme_relu_pack.pack.json", "--json", code=code, stderr=False))
        return {check["check"]: check for check in report["checks"]}


def expect(text, *parts):
    for part in parts:
        assert part in text, f"{part!r} is not in:\n{text}"


def one_wrong_letter(day):
    assert day.verify(0)["intrinsics"]["outcome"] == "passed"
    day.unit(UNIT.replace("ogt", "olt"))
    found = day.verify(4)["intrinsics"]
    assert (found["outcome"], found["rule"]) == ("failed", "P27"), found
    expect(found["reason"], "acme_relu.yaml:15: intrinsic acme_relu_4: its implementation does not compute its semantics: O[")
    for wrong, line, said in [("ret <4", 17, "rett <4"), ("select <4", 16, "selekt <4"), ("<4 x float> %r", 17, "<2 x float> %r")]:
        day.unit(UNIT.replace(wrong, said) if wrong != "<4 x float> %r" else UNIT.replace("ret <4 x float> %r", "ret <2 x float> %r"))
        found = day.verify(4)["intrinsics"]
        expect(found["reason"], f"acme_relu.yaml:{line}: tensor intrinsic acme_relu_4: ")
    # Before it measures, a run says the same with the place, and it continues without the instruction.
    tune = ("tune", "relu:n=8,m=16", "--spaces", "spaces.yaml", "--space", "acme", "--database", "records.db", "--trials", "8", "--quiet")
    text = day.tunesmith(*tune)
    expect(text, "tunesmith: ./acme_relu.yaml:17: tensor intrinsic acme_relu_4: ", "space 'acme' continues without it")
    result = json.loads(day.tunesmith(*tune, "--fresh", "--json", stderr=False))
    assert result["valid"] > 0 and any("acme_relu.yaml:17: " in reason for reason in result["refusals"]), result
    day.unit(UNIT)
    day.tunesmith(*tune, "--fresh")


def what_is_refused_is_named(day):
    text = day.tunesmith("tune", "relu:n=8,m=16", "--spaces", "spaces.yaml", "--space", "registers", "--database", "records.db", "--trials", "8", "--quiet", "--fresh")
    expect(text, "drafts from the space were rejected", "times: a register buffer cannot live in registers (the first: ", "O_register")


def hardware_that_is_not_here(day):
    (day.folder / "absent.yaml").write_text("version: 1\nspaces:\n  s: {extends: cpu, target: {with+: [acme_absent]}}\n")
    report = json.loads(day.tunesmith("plugins", "verify", "build/plugins/acme_absent_pack.pack.json", "--spaces", "absent.yaml", "--json", stderr=False))
    outcomes = {check["check"]: check["outcome"] for check in report["checks"]}
    assert outcomes["intrinsics"] == outcomes["hardware"] == "unsupported" and "failed" not in outcomes.values(), report
    expect(day.tunesmith("spaces", "explain", "relu", "--spaces", "spaces.yaml", "--space", "absent", code=4), "cannot be used here: this machine lacks no_such_feature")


def traces_know_the_intrinsics(day):
    (day.folder / "relu.trace").write_text('o = get_block("O")\ni, j = get_loops(o)\nj0, j1 = split(j, [None, 4])\nt = tensorize(j1, "acme_relu_4")\n')
    own = ("relu.trace", "--workload", "relu:n=8,m=16", "--spaces", "spaces.yaml", "--space", "absent")
    expect(day.tunesmith("trace", "replay", *own), "legal on relu")
    expect(day.tunesmith("trace", "show", *own, "--program"), 'tensor_intrinsic = "acme_relu_4"')
    # The refusal to ship names the instruction that may be at fault.
    day.unit(UNIT.replace("ogt", "olt"))
    build = ("build", "relu:n=8,m=16", "--trace", "relu.trace", "--spaces", "spaces.yaml", "--space", "acme", "--database", "records.db", "--output", "built")
    expect(day.tunesmith(*build, code=2), "program rejected: wrong_result", "; the program calls ./acme_relu.yaml:15: tensor intrinsic acme_relu_4")
    day.unit(UNIT)
    docs = day.prefix / "share" / "doc" / "tunesmith"
    for name in ("gmm_1024_int8", "gmm_1024_bf16"):
        trace = docs / "sdk" / "examples" / "traces" / f"{name}.trace"
        workload = next(line for line in trace.read_text().splitlines() if line.startswith("# workload: ")).split(": ", 1)[1]
        expect(day.tunesmith("trace", "replay", trace, "--workload", workload), "legal on gmm")


def every_example_of_the_schedule_page_replays(day):
    """The page's traces are saved and replayed unchanged."""
    page = (day.prefix / "share" / "doc" / "tunesmith" / "docs" / "schedule.md").read_text()
    fenced = [block.split("\n", 1) for block in page.split("```")[1::2]]
    for head, text in fenced:
        if head == "yaml":
            name = text.split("\n", 1)[0].removeprefix("name: ")
            (day.folder / f"{name}.yaml").write_text(text)
    examples = [(head.split()[1], text.split("---\n")) for head, text in fenced if head.startswith("example ")]
    assert len(examples) > 20 and any('"vnni_dot_16x4"' in parts[0] for _, parts in examples)
    for workload, (trace, after) in examples:
        (day.folder / "page.trace").write_text(trace)
        expect(day.tunesmith("trace", "replay", "page.trace", "--workload", f"{workload}.yaml"), "legal on")
        program = day.tunesmith("trace", "show", "page.trace", "--workload", f"{workload}.yaml", "--program")
        expect(program, "".join(f"  {line}\n" for line in after.splitlines()))


def what_is_said_of_plugins(day):
    expect(day.tunesmith("explain", "P12"), "P12: Exceptions that leave its functions", "if violated: ", "enforced by: ")
    assert json.loads(day.tunesmith("explain", "[p7]", "--json"))["rule"] == "P7"
    last = re.findall(r"^\| (P\d+) \|", (day.prefix / "share/doc/tunesmith/docs/plugin-rules.md").read_text(), re.MULTILINE)[-1]
    expect(day.tunesmith("explain", "P99", code=2), f"unknown rule 'P99'; known: P1 to {last}")
    expect(day.tunesmith("plugins", "list"), f"\n{'searcher':14} random ", "\n    draw candidates from the prior\n")
    assert all(plugin["help"] for plugin in json.loads(day.tunesmith("plugins", "list", "--json", stderr=False))["plugins"])
    assert day.tunesmith("plugins", "new", "module", "acme_quiet", "-q") == ""
    (day.folder / "wrong.yaml").write_text("version: 1\nspaces:\n  s: {extends: cpu, modules: [evolutionary]}\n")
    expect(day.tunesmith("spaces", "lint", "--spaces", "wrong.yaml", code=2), "wrong.yaml:3:31: unknown module 'evolutionary'; a searcher has this name")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tunesmith-vendor-") as folder:
        os.environ["XDG_DATA_HOME"] = folder
        os.environ["TUNESMITH_MACHINE_LOCK"] = f"{folder}/machine.lock"
        day = Day(arguments.prefix, folder)
        for name, text in [("CMakeLists.txt", PACK), ("acme_relu.yaml", UNIT), ("spaces.yaml", SPACES),
                           ("acme_absent.yaml", UNIT.replace("acme_relu", "acme_absent").replace("target: llvm\n", "target: llvm\nrequires: [no_such_feature]\n"))]:
            (day.folder / name).write_text(text)
        day.run("cmake", "-B", "build", f"-DCMAKE_PREFIX_PATH={day.prefix}")
        day.run("cmake", "--build", "build")
        for step in (one_wrong_letter, what_is_refused_is_named, hardware_that_is_not_here, traces_know_the_intrinsics, every_example_of_the_schedule_page_replays,
                     what_is_said_of_plugins):
            step(day)


if __name__ == "__main__":
    main()
