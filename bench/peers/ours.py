"""Tunesmith's side of a row: its signature, the best program of a search, and the library built from it."""
import json
import re
import subprocess

from rows import ROOT


class Failed(Exception):
    """A command of Tunesmith failed."""


def command(binary, *args, timeout):
    try:
        done = subprocess.run([binary, *map(str, args)], capture_output=True, text=True, timeout=timeout, cwd=ROOT)
    except subprocess.TimeoutExpired:
        raise Failed(f"tunesmith {args[0]}: not done after {timeout} s") from None
    except OSError as error:
        raise Failed(f"{binary}: {error.strerror}; --tunesmith names the command") from None
    if done.returncode not in (0, 3):
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise Failed(f"tunesmith {args[0]}: {lines[-1]}")
    return json.loads(done.stdout)


def array(text):
    name, dtype, shape, constant = re.fullmatch(r"(\w+): (\w+)\[([\d, ]*)\]( constant)?", text.strip()).groups()
    return {"name": name, "dtype": dtype, "shape": [int(extent) for extent in shape.split(",")], "constant": bool(constant)}


def signature(program):
    """The arrays of a program as `workloads show` prints it: program NAME(A: f32[1, 2], W: f32[2] constant) -> (C: f32[1])."""
    inputs, outputs = re.match(r"program \w+\((.*?)\) -> \((.*?)\)", program).groups()
    arrays = re.findall(r"\w+: \w+\[[^\]]*\](?: constant)?", inputs)
    return {"inputs": [array(text) for text in arrays], "output": array(outputs)}


def describe(binary, workload):
    """The workload's key, operations, bytes and arrays."""
    shown = command(binary, "workloads", "show", workload, "--json", timeout=60)
    return {"key": shown["workload"], "flops": shown["flops"], "bytes": shown["bytes_min"], "arrays": signature(shown["program"])}


def build_trace(arguments, workload, folder):
    """Like build(), but for the trace that --trace names, which is verified first."""
    common = ["--threads", arguments.threads, "--json", "--quiet", "--database", folder / "records.db"]
    trace = arguments.trace.resolve()
    measured = command(arguments.tunesmith, "bench", workload, "--trace", trace, "--rounds", 5, *common, timeout=120)["benchmarks"][0]
    if failure := measured["entries"][0].get("failure"):
        raise Failed(f"{arguments.trace}: {failure}")
    command(arguments.tunesmith, "build", workload, "--trace", trace, "--output", folder, "--name", "kernel", *common, timeout=120)
    return {"trace": arguments.trace.stem, "peak_gflops": measured["peak_gflops"]}, folder / "libkernel.so"


def build(arguments, workload, folder):
    """(the search's outcome, the library's file). `folder` belongs to the row."""
    if arguments.trace:
        return build_trace(arguments, workload, folder)
    records = arguments.records.resolve() / f"{arguments.space}-{arguments.trials}-{arguments.seed}.db"
    records.parent.mkdir(parents=True, exist_ok=True)
    common = ["--space", arguments.space, "--threads", arguments.threads, "--database", records, "--json", "--quiet"]
    if arguments.spaces:
        common += ["--spaces", arguments.spaces.resolve()]
    fresh = ["--fresh"] if arguments.again else []
    result = command(arguments.tunesmith, "tune", workload, "--trials", arguments.trials, "--seed", arguments.seed, *fresh, *common,
                     timeout=arguments.tune_seconds)
    if not result.get("trace"):
        raise Failed(f"tunesmith tune: none of {result['trials']} candidates is valid")
    command(arguments.tunesmith, "build", workload, "--trace", result["trace"], "--output", folder, "--name", "kernel", *common, timeout=120)
    keys = ("trials", "valid", "wall_seconds", "best_seconds", "gflops", "peak_gflops", "trace")
    return {key: result[key] for key in keys}, folder / "libkernel.so"
