"""Tunes and builds row after row, and measures each beside the peers in a separate process."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import estimates
import machine
import ours
import rows

HERE = pathlib.Path(__file__).resolve().parent
TRIES = 3  # to measure a row that others disturb


def say(text):
    print(text, file=sys.stderr, flush=True)


def environment(arguments, folder):
    """Gives every library the same number of threads, and keeps freed memory, so that PyTorch's results are not mapped anew in every call."""
    threads = str(arguments.threads)
    return os.environ | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads,
                         "TVM_NUM_THREADS": threads, "TVM_BIND_THREADS": "0",
                         "MALLOC_MMAP_THRESHOLD_": str(1 << 32), "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
                         "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "PYTHONDONTWRITEBYTECODE": "1"}


def ask_worker(arguments, request, folder):
    question, answer = folder / "request.json", folder / "answer.json"
    question.write_text(json.dumps(request))
    done = subprocess.run([arguments.env / "bin/python", HERE / "worker.py", question, answer], capture_output=True, text=True,
                          env=environment(arguments, folder), timeout=arguments.row_seconds * 20 + 600)
    if done.returncode != 0:
        raise ours.Failed(f"the peers' process: {(done.stderr.strip().splitlines() or [f'exit code {done.returncode}'])[-1]}")
    return json.loads(answer.read_text())


def undisturbed(arguments, request, folder):
    """The answer, and whether others were busy all the same."""
    for _ in range(TRIES):
        if not arguments.allow_load:
            machine.wait_until_quiet(arguments.load, arguments.wait, say=say)
        answer = ask_worker(arguments, request, folder)
        if answer["others"] <= arguments.load:
            return answer, False
        if arguments.allow_load:
            return answer, True
        say(f"others kept {answer['others']:.2f} processors busy meanwhile: measured again")
    raise machine.Loaded(f"others kept {answer['others']:.2f} processors busy in each of {TRIES} tries; the row has no figures")


def summary(row, tuned, answer, loaded):
    """The row's entry in the results' file."""
    samples = answer["samples"]
    copy = samples.pop("copy")
    found = {"errors": answer["errors"], "declined": answer["declined"], "differences": answer["differences"], "others": answer["others"],
             "loaded": loaded, "times": {name: estimates.time_of(values) for name, values in samples.items()},
             "copy": estimates.time_of(copy), "tuned": tuned}
    own = samples.get("tunesmith")
    if own:
        found["ratios"] = {name: estimates.ratio_of(values, own) for name, values in samples.items() if name != "tunesmith"}
        arithmetic = row["flops"] / (tuned["peak_gflops"] * 1e9) if tuned.get("peak_gflops") else 0.0
        found["share_of_roof"] = max(arithmetic, found["copy"]["value"]) / found["times"]["tunesmith"]["value"]
    return row | found


def commit():
    """Each row has its commit, since one results' file may come from several."""
    done = subprocess.run(["git", "-C", rows.ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def measure_row(arguments, one):
    """A row of the results. Raises machine.Loaded where the machine is too busy."""
    row = {"section": one.section, "name": one.name, "workload": one.tuned, "group": one.is_group, "commit": commit()}
    with tempfile.TemporaryDirectory(prefix="tunesmith-peers-") as name:
        folder = pathlib.Path(name)
        try:
            about = ours.describe(arguments.tunesmith, one.tuned)
            row |= {key: about[key] for key in ("key", "flops", "bytes")}
            if not arguments.allow_load:
                machine.wait_until_quiet(arguments.load, arguments.wait, say=say)
            tuned, library = ours.build(arguments, one.tuned, folder)
            operator, parameters = rows.parameters(about["key"])
            request = {"operator": operator, "parameters": parameters, "arrays": about["arrays"], "flops": about["flops"], "bytes": about["bytes"],
                       "library": str(library), "peers": arguments.peers, "threads": arguments.threads, "rounds": arguments.rounds,
                       "seconds": arguments.row_seconds, "data_seed": 1,
                       "tvm": str(rows.tvm_folder(arguments.tvm_records, one, arguments.trials, arguments.seed).resolve())}
            return summary(row, tuned, *undisturbed(arguments, request, folder))
        except (ours.Failed, subprocess.TimeoutExpired) as error:
            return row | {"errors": {"tunesmith": str(error)}}


def outcome(row):
    if "tunesmith" not in row.get("times", {}):
        return f"error: {row['errors'].get('tunesmith')}"
    ratios = " ".join(f"{name} {ratio['value']:.2f}" for name, ratio in row["ratios"].items())
    wrong = f"; errors: {', '.join(row['errors'])}" if row["errors"] else ""
    return f"{row['times']['tunesmith']['value'] * 1e6:.1f} us; {ratios}{wrong}"


def measure(arguments, chosen, results):
    """Returns whether every row has figures and nobody's result was wrong."""
    whole = True
    for number, one in enumerate(chosen, 1):
        if results.has(one.name, arguments.allow_load) and not arguments.again:
            continue
        begin = time.monotonic()
        row = measure_row(arguments, one)
        results.put(row)
        whole = whole and not row["errors"]
        say(f"[{number} of {len(chosen)}, {time.monotonic() - begin:.0f} s] {one.name}: {outcome(row)}")
    return whole
