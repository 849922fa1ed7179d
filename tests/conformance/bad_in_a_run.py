#!/usr/bin/env python3
"""Modules that are bad while they work: what a run says, what the conformance kit says, and that the healthy module of the same pack
works beside them. Usage: bad_in_a_run.py TUNESMITH MANIFEST MISTAKE"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TUNESMITH, MANIFEST, MISTAKE = sys.argv[1:]
SPACES = """version: 1
spaces:
  bad: {extends: cpu, modules: [bad_module, rewrite_reduction_init]}
  healthy: {extends: cpu, modules: [neighbour_module, rewrite_reduction_init]}
"""
EXPLAIN = ["spaces", "explain", "relu:n=8,m=16", "--plugin-seconds", "1"]
TUNE = ["tune", "relu:n=8,m=16", "--trials", "4", "--database", "records.db"]
# The mistake: a run that meets it, its exit code and what it says; the kit's check that meets it, its rule and what it says.
CASES = {
    "throws": (EXPLAIN, 4, "module 'bad_module': [P12] apply at block 'O' threw: boom in apply", "contract", "P12", "threw: boom in apply"),
    "throws_int": (EXPLAIN, 4, "[P12] apply at block 'O' threw something that is no exception", "contract", "P12", "no exception"),
    "shrinks_a_loop": (EXPLAIN, 4, "module 'bad_module': at block 'O': [P23] replaying its trace gives another program",
                       "trace", "P23", "replaying its trace gives another program"),
    "shrinks_a_loop_at_the_end": (TUNE, 0, "1 failed: wrong_result", "legality", "P23", ", reference "),
    "hangs": (EXPLAIN, 4, "module 'bad_module': [P22] apply at block 'O' has not returned in 1 seconds", "contract", "P22", "it did not end within 2 seconds"),
    "prints": (EXPLAIN, 0, "hello from apply", "contract", "P21", "hello from apply"),
}


def run(folder, *command, code, mistake):
    done = subprocess.run([TUNESMITH, *map(str, command), "--spaces", "spaces.yaml", "--plugin-path", MANIFEST], cwd=folder, capture_output=True, text=True,
                          timeout=120, env={**os.environ, "TUNESMITH_TEST_MISTAKE": mistake})
    assert done.returncode == code, f"{command}: exit code {done.returncode}, wanted {code}\n{done.stdout}{done.stderr}"
    return done


def main():
    command, code, said, check, rule, reason = CASES[MISTAKE]
    with tempfile.TemporaryDirectory(prefix="tunesmith-bad-") as folder:
        (pathlib.Path(folder) / "spaces.yaml").write_text(SPACES)
        done = run(folder, *command, "--space", "bad", code=code, mistake=MISTAKE)
        assert said in done.stdout + done.stderr, f"{said!r} is not in:\n{done.stdout}{done.stderr}"
        if MISTAKE == "prints":  # the result is still right
            assert said in done.stderr
            json.loads(run(folder, *command, "--space", "bad", "--json", code=code, mistake=MISTAKE).stdout)

        limit = 2 if MISTAKE == "hangs" else 60
        report = json.loads(run(folder, "plugins", "verify", MANIFEST, "--check", check, "--time-limit", limit, "--json", code=4, mistake=MISTAKE).stdout)
        of = {plugin: {entry["check"]: entry for entry in report["checks"] if entry["id"] == plugin} for plugin in ("bad_module", "neighbour_module")}
        found = of["bad_module"][check]
        assert (found["outcome"], found["rule"]) == ("failed", rule) and reason in found["reason"], found

        # The other module passes. Its longest check may take more than two seconds.
        if MISTAKE != "hangs":
            assert {entry["outcome"] for entry in of["neighbour_module"].values()} == {"passed"}, of["neighbour_module"]
        events = json.loads(run(folder, *EXPLAIN, "--space", "healthy", "--json", code=0, mistake=MISTAKE).stdout)["events"]
        assert [(event["module"], event["status"]) for event in events] == [("neighbour_module", "applied")], events
        run(folder, *TUNE, "--space", "healthy", code=0, mistake=MISTAKE)


if __name__ == "__main__":
    main()
