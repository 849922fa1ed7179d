"""Measures one row; `run` starts it with the environment's interpreter. Usage: worker.py REQUEST.json ANSWER.json"""
import json
import math
import os
import pathlib
import sys

import torch

import machine
import timing
from cases import TYPES
from contestants import Declined, copying, of_peer, reference, tensor
from groups import GROUPS
from library import Library
from operators import OPERATORS

# By the type of the result: the largest allowed difference from the result in double precision, relative to its largest element.
TOLERANCES = {torch.float32: 1e-4, torch.float64: 1e-4, torch.bfloat16: 1e-2, torch.float16: 1e-3, torch.int32: 0.0}
OF_INTEGERS = 1e-7  # products of integers are exact, or rounded to f32 once


def data(operator, arrays, seed):
    """Inputs by name: floats in [-1, 1), integers over the range of their type. Plain sums get floats in [0, 1): with both signs, a long sum
    would be little more than its roundings."""
    low = 0 if operator.startswith("reduce_sum") else -1
    chance = torch.Generator().manual_seed(seed)
    found = {}
    for array in arrays:
        dtype = TYPES[array["dtype"]]
        if dtype.is_floating_point:
            found[array["name"]] = (torch.rand(array["shape"], generator=chance) * (1 - low) + low).to(dtype)
        else:
            range_of = torch.iinfo(dtype)
            found[array["name"]] = torch.randint(range_of.min, range_of.max + 1, array["shape"], generator=chance, dtype=dtype)
    return found


def difference(result, expected):
    """The largest difference relative to the largest element; infinite if shapes differ or an element is not finite."""
    if result.shape != expected.shape:
        return float("inf")
    result = result.double()
    if not torch.isfinite(result).all():
        return float("inf")
    return ((result - expected).abs().max() / expected.abs().max().clamp_min(1e-30)).item()


def tolerance(dtype, integer, operations):
    """`operations`: those of each element. Sums of f32 may be added in any order, even one by one, so long ones get a larger tolerance."""
    if dtype != torch.float32:
        return TOLERANCES[dtype]
    return OF_INTEGERS if integer else max(TOLERANCES[dtype], 16 * math.sqrt(operations) * 2**-24)


class Field:
    """The contestants of a row; the others are in `declined` or `errors`."""

    def __init__(self, case, flops):
        self.case = case
        self.flops = flops
        self.expected = reference(case)
        self.calls, self.differences, self.declined, self.errors = {}, {}, {}, {}

    def enter(self, name, make, result):
        try:
            call = make()
            out = result(tensor(call()))
        except Declined as reason:
            self.declined[name] = str(reason)
            return
        except Exception as error:
            self.errors[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:200]}" if str(error) else type(error).__name__
            return
        allowed = tolerance(out.dtype, self.case.integer, self.flops / out.numel())
        self.differences[name] = difference(out, self.expected)
        if self.differences[name] <= allowed:
            self.calls[name] = call
        else:
            self.errors[name] = f"its result differs by {self.differences[name]:.2g} of the largest element, more than {allowed:.2g}"


def enter_tvm(field, request, inputs):
    """Enters TVM if it was tuned for this row."""
    folder = pathlib.Path(request["tvm"])
    if not (folder / "tuned.json").exists():
        field.declined["tvm"] = "not tuned"
        return
    import tvm_peer  # only if needed, and after PyTorch's libraries
    output = request["arrays"]["output"]
    out = torch.zeros(output["shape"], dtype=TYPES[output["dtype"]])
    made = {}

    def make():
        check, made["timed"] = tvm_peer.contestant(folder, inputs, out, request["threads"])
        return check
    field.enter("tvm", make, lambda result: result)
    if "tvm" in field.calls:
        field.calls["tvm"] = made["timed"]


def measure(request):
    torch.set_num_threads(request["threads"])
    torch.manual_seed(request["data_seed"])
    operator, parameters = request["operator"], request["parameters"]
    arrays = data(operator, request["arrays"]["inputs"], request["data_seed"])
    case = (GROUPS if operator in GROUPS else OPERATORS)[operator](parameters, arrays)
    field = Field(case, request["flops"])
    if request["library"]:
        output = request["arrays"]["output"]
        out = torch.zeros(output["shape"], dtype=TYPES[output["dtype"]])
        field.enter("tunesmith", lambda: Library(request["library"], "kernel", list(arrays.values()), out).call(), lambda out: out)
    for name in request["peers"]:
        if name == "tvm":
            enter_tvm(field, request, list(arrays.values()))
            continue
        field.enter(name, lambda: of_peer(name, case, parameters, request["threads"]), case.result)
    field.calls["copy"] = copying(int(request["bytes"]))
    with machine.turn():
        watch = machine.Watch()
        samples = timing.in_turn(field.calls, request["rounds"], request["seconds"])
        others = watch.others()
    return {"samples": samples, "differences": field.differences, "declined": field.declined, "errors": field.errors, "others": others}


def main():
    request = json.loads(pathlib.Path(sys.argv[1]).read_text())
    processors = sorted(os.sched_getaffinity(0))[:request["threads"]]
    os.sched_setaffinity(0, processors)
    with torch.no_grad():
        answer = measure(request)
    pathlib.Path(sys.argv[2]).write_text(json.dumps(answer))


if __name__ == "__main__":
    main()
