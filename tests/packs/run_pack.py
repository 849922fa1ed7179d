"""Writes packs into separate folders, and runs commands on them."""
import hashlib
import json
import sqlite3
from dataclasses import dataclass, field

import cli

MODULES = ""  # the folder of plain_too

SPACES = """version: 1
default: acme
spaces:
  acme:
    extends: cpu
    target: {{kind: llvm, mcpu: {mcpu}, with: [{extension}]}}
    modules:
      - plain_too
      - script:
          match: [O]
          claim: false
          trace: |
            {loops} = get_loops(block)
{script}      - parallel_vectorize_unroll
    search: {{kind: random, max_empty_draws: 400}}
    cost_model: {{kind: random}}
"""


def write_pack(folder, files):
    """`files`: the text of each extension's file by its id. The manifest has their hashes."""
    plugins = [{"id": id, "kind": "extension", "library": f"{id}.yaml", "sha256": hashlib.sha256(text.encode()).hexdigest()}
               for id, text in files.items()]
    folder.mkdir(mode=0o755, exist_ok=True)
    for id, text in files.items():
        (folder / f"{id}.yaml").write_text(text)
    name = next(iter(files))
    (folder / f"{name}.pack.json").write_text(json.dumps(
        {"manifest_version": 1, "id": name, "version": "1.0.0", "vendor": "Acme", "licence": "MIT", "plugins": plugins}))


def write_unit(folder, unit, text, mcpu="native", optional=False):
    """Writes a pack with `text` as acme.yaml, a workload and a space for it. `optional`: used if the processor supports it."""
    write_pack(folder, {"acme": text})
    (folder / "work.yaml").write_text(unit.workload_text())
    loops = "i, j, k" if "sum(" in unit.workload else "i, j"
    script = "".join(f"            {line}\n" for line in unit.script.strip().split("\n"))
    (folder / "spaces.yaml").write_text(SPACES.format(mcpu=mcpu, extension='"acme?"' if optional else "acme", loops=loops, script=script))


@dataclass
class Outcome:
    """The valid and failed programs of a run; those that call the instruction are counted separately."""
    code: int
    result: dict
    said: str
    plain: set = field(default_factory=set)  # valid
    plain_failed: set = field(default_factory=set)
    called: set = field(default_factory=set)  # valid
    refused: dict = field(default_factory=dict)  # cause -> number of programs that call the instruction


def at(folder):
    return ["--spaces", folder / "spaces.yaml", "--plugin-path", folder, "--plugin-path", MODULES]


def tune(folder, *more, trials=64, threads=1, database="records.db"):
    done = cli.start("tune", folder / "work.yaml", *at(folder), "--database", folder / database, "--trials", trials, "--threads", threads,
                     "--json", "--quiet", *more)
    outcome = Outcome(done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr)
    if not (folder / database).exists():
        return outcome
    with sqlite3.connect(f"file:{folder / database}?mode=ro", uri=True) as store:
        for trace, cause, program in store.execute("select trace, cause, lowered_hash from record where kind = 'search'"):
            if "tensorize(" in trace:
                if cause:
                    outcome.refused[cause] = outcome.refused.get(cause, 0) + 1
                else:
                    outcome.called.add(program)
            else:
                (outcome.plain_failed if cause else outcome.plain).add(program)
    return outcome


def verify(folder, *more):
    """Returns the exit code, and the reason of each failed check."""
    done = cli.start("plugins", "verify", folder / "acme.pack.json", *at(folder), "--json", "--quiet", *more)
    checks = json.loads(done.stdout)["checks"] if done.stdout else []
    return done.returncode, {check["check"]: check["reason"] for check in checks if check["outcome"] == "failed"}
