#!/usr/bin/env python3
"""A program's identity includes the implementations of its instructions. Usage: identity.py --tunesmith BINARY TEST"""
import hashlib
import json
import re

import cli
from cli import run
from vendor_day import UNIT

RELU = "relu:n=64,m=64"
SPACES = """version: 1
spaces:
  acme:
    extends: cpu
    target: {with+: [./acme_relu.yaml]}
    modules:
      - script:
          match: [O]
          trace: |
            i, j = get_loops(block)
            v0, v1 = sample_perfect_tile(i, n=2, max_innermost=64)
            i0, i1 = split(i, [v0, v1])
            j0, j1 = split(j, [None, 4])
            t = tensorize(j1, "acme_relu_4")
            parallel(i0)
  tiled: {extends: cpu, target: {with+: [./acme_relu.yaml]}}
  plain: {extends: cpu, modules: []}
"""


def write(folder, unit=UNIT):
    (folder / "acme_relu.yaml").write_text(unit)
    (folder / "spaces.yaml").write_text(SPACES)


def of(folder, space, database="records.db"):
    return ["--spaces", folder / "spaces.yaml", "--space", space, "--database", folder / database]


def tune(folder, space, database="records.db", workload=RELU):
    return json.loads(run("tune", workload, *of(folder, space, database), "--trials", 8, "--json", "--quiet").stdout)


def an_edited_instruction_is_another_program(folder):
    write(folder)
    first = tune(folder, "acme")
    assert first["known"] == 0 and not first["failures"], first
    shown = json.loads(run("records", "show", first["trace"], "--database", folder / "records.db", "--json").stdout)
    assert re.search(r" with=.*acme_relu:[0-9a-f]{16}", shown["record"]["target"]), shown["record"]["target"]
    # Comments and the order of keys do not change the instruction.
    write(folder, "# Acme's\n" + UNIT.replace("      arguments: [X]\n", "").rstrip() + "\n      arguments: [X]\n")
    assert tune(folder, "acme")["resumed"] == first["trials"]
    # A changed operand of the fragment makes another program of another task, which is verified before it is built.
    write(folder, UNIT.replace("<4 x float> %X, <4 x float> zeroinitializer\n        ret",
                               "<4 x float> %X, <4 x float> splat (float 2.5)\n        ret"))
    refused = run("build", RELU, *of(folder, "acme"), "--output", folder / "out", code=2)
    assert "no record of relu" in refused.stderr and "space 'acme' has some" in refused.stderr, refused.stderr
    records = json.loads(run("records", "list", "--database", folder / "records.db", "--json").stdout)["records"]
    traces = {record["id"]: json.loads(run("records", "show", record["id"], "--database", folder / "records.db", "--json").stdout)["trace"]
              for record in records}
    tensorized = next(record for record, trace in traces.items() if "tensorize" in trace)
    refused = run("build", RELU, *of(folder, "acme"), "--output", folder / "out", "--trace", tensorized, code=2)
    assert "program rejected: wrong_result" in refused.stderr, refused.stderr
    second = tune(folder, "acme")
    assert second["known"] == 0 and second["failures"]["wrong_result"] > 0, second
    assert not (folder / "out").exists()


def spaces_of_other_extensions_are_other_tasks(folder):
    write(folder)
    product = "gmm:n=96,m=96,k=96"
    tune(folder, "plain", workload=product)
    missing = run("build", product, *of(folder, "tiled"), "--output", folder / "out", code=2)
    assert "space 'plain' has some" in missing.stderr, missing.stderr
    assert tune(folder, "tiled", workload=product)["known"] == 0
    # A space without modules has two programs: the unscheduled one, and that with its outermost loop in parallel.
    built = run("build", product, *of(folder, "plain"), "--output", folder / "out")
    assert "space 'tiled', with other extensions, has a faster program" in built.stderr, built.stderr
    assert "--space tiled" in built.stderr
    built = run("build", product, *of(folder, "tiled"), "--output", folder / "out")
    assert "faster program" not in built.stderr, built.stderr


def without_verifier(store, other):
    """Copies the store's lines to another store as if an earlier check had accepted them. Numbers keep their texts."""
    lines = []
    for line in run("records", "export", "--database", store).stdout.splitlines():
        head, tail = re.fullmatch(r'\{"checksum":"[0-9a-f]{16}",("\w+":)(.*),"version":\d+\}', line).groups()
        payload = re.sub(r',"verifier":\d+', "", tail)
        checksum = hashlib.sha256(payload.encode()).hexdigest()[:16]
        lines.append(f'{{"checksum":"{checksum}",{head}{payload},"version":4}}')
    file = other.with_suffix(".jsonl")
    file.write_text("\n".join(lines) + "\n")
    run("records", "import", file, "--database", other)


def what_an_earlier_check_accepted_is_checked_again(folder):
    write(folder)
    first = tune(folder, "acme")
    without_verifier(folder / "records.db", folder / "old.db")
    shown = run("records", "show", first["trace"], "--database", folder / "old.db").stdout
    assert "unknown, older than records store it" in shown, shown
    built = run("build", RELU, *of(folder, "acme", "old.db"), "--output", folder / "out")
    assert "is of an earlier version of verification: verified and measured now" in built.stdout, built.stdout
    again = tune(folder, "acme", "old.db")
    assert again["resumed"] == first["trials"] and again["checked_again"] == first["valid"] and again["refused_again"] == 0, again
    assert tune(folder, "acme", "old.db")["checked_again"] == 0
    built = run("build", RELU, *of(folder, "acme", "old.db"), "--output", folder / "out")
    assert "earlier version of verification" not in built.stdout, built.stdout


def a_candidate_makes_the_same_program_or_says_what_it_lacks(folder):
    write(folder)
    line = folder / "one.jsonl"
    traced = tune(folder, "acme")["trace"]
    records = json.loads(run("records", "list", "--database", folder / "records.db", "--json").stdout)["records"]
    calling = next(record["id"] for record in records
                   if "tensorize" in json.loads(run("records", "show", record["id"], "--database", folder / "records.db", "--json").stdout)["trace"])
    lowered = {}
    for record in (traced, calling):
        run("trace", "export", record, *of(folder, "acme"), "--output", line)
        lowered[record] = json.loads(line.read_text())["candidate"]["lowered_hash"]
        (folder / f"{record}.jsonl").write_text(line.read_text())

    def check(space, code=0, file=line):
        return json.loads(run("trace", "check", file, "--spaces", folder / "spaces.yaml", "--space", space, "--json", code=code).stdout)["candidates"][0]

    # Needs neither the store nor the modules; another space with the same extensions suffices.
    (folder / "records.db").unlink()
    assert check("acme") == {"line": 1, "workload": check("acme")["workload"], "lowered_hash": lowered[calling], "same": True, "refusal": "", "differences": []}
    assert check("tiled")["same"]
    lacking = check("plain", code=4)
    assert not lacking["same"] and any("lacks the extension 'acme_relu'" in one for one in lacking["differences"]), lacking
    assert "acme_relu" in lacking["refusal"], lacking
    # Another implementation changes the programs that call the instruction, and no others.
    write(folder, UNIT.replace("<4 x float> %X, <4 x float> zeroinitializer\n        ret",
                               "<4 x float> %X, <4 x float> splat (float 2.5)\n        ret"))
    other = check("acme", code=4)
    assert "another program" in other["refusal"] and any("another version of the extension 'acme_relu'" in one for one in other["differences"]), other
    (folder / "file.trace").write_text("# tunesmith trace 2\n")
    run("trace", "export", folder / "file.trace", "--workload", RELU, "--space", "cpu", "--output", folder / "plain.jsonl")
    plain = check("acme", file=folder / "plain.jsonl")
    assert plain["same"] and any("has the extension 'acme_relu'" in one for one in plain["differences"]), plain
    # Damaged lines and lines of other kinds are refused.
    line.write_text(line.read_text().replace(lowered[calling], "0" * 16))
    assert "one.jsonl:1: damaged: the checksum does not fit the content" in run("trace", "check", line, code=2).stderr
    line.write_text("")
    assert "no candidates found" in run("trace", "check", line, code=2).stderr
    said = cli.start("records", "import", folder / "plain.jsonl", "--database", folder / "new.db")
    assert "run it with `tunesmith measure`" in said.stderr + said.stdout, said


if __name__ == "__main__":
    cli.run_test({test.__name__: test for test in [
        an_edited_instruction_is_another_program, spaces_of_other_extensions_are_other_tasks,
        what_an_earlier_check_accepted_is_checked_again, a_candidate_makes_the_same_program_or_says_what_it_lacks]})
