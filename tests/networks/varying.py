#!/usr/bin/env python3
"""One library for a range of extents. Usage: varying.py --tunesmith PATH TEST"""
import argparse
import ctypes
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "e2e"))
from onnx_files import model, node, tensor_value  # noqa: E402
from record_lines import with_times  # noqa: E402

KEPT = pathlib.Path(__file__).parent / "varying"
NAMES = ("perceptron", "residual", "attention")  # of which the last has an inner extent that varies
SIZES = (1, 7, 16)


def dim_of(name):
    return "tokens" if name == "attention" else "batch"


OK, WRONG_RANK, WRONG_SHAPE = 0, 3, 4


def tunesmith(*words, code=0):
    done = subprocess.run([TUNESMITH, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def build(name, folder, dim=None):
    tunesmith("network", "build", KEPT / name / "model.onnx", "--dim", dim or f"{dim_of(name)}=1..16", "--unscheduled", "--name", "net", "--database", folder / "none.db",
              "--output", folder)
    return folder


def run(built, kept, folder):
    given = [word for file in sorted(kept.glob("input_*.npy")) for word in ("--input", file)]
    tunesmith("network", "run", built, *given, "--output", folder / "out")


def values(file):
    """The shape and f32 elements of a file in NumPy's format."""
    data = file.read_bytes()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    shape = [int(part) for part in data[10:begin].decode().split("(")[1].split(")")[0].split(",") if part.strip()]
    return shape, struct.unpack(f"<{(len(data) - begin) // 4}f", data[begin:])


def folder_of(name, size):
    return KEPT / name if size == 7 else KEPT / name / f"{dim_of(name)}_{size}"


def results_are_those_of_onnxruntime(folder):
    for name in NAMES:
        built = build(name, folder / name)
        for size in SIZES:
            kept = folder_of(name, size)
            run(built, kept, folder)
            (shape, found), (wanted_shape, wanted) = values(folder / "out/output_0.npy"), values(kept / "expected_0.npy")
            assert shape == wanted_shape and len(found) == len(wanted), (name, shape, wanted_shape)
            assert all(abs(a - b) <= 1e-5 + 1e-4 * abs(b) for a, b in zip(found, wanted)), (name, size)


def each_step_is_verified_at_many_batches(folder):
    for name in NAMES:
        built = build(name, folder / name)
        said = json.loads(tunesmith("network", "verify", built, "--json").stdout)
        dim = dim_of(name)
        sizes = {call["extents"] for call in said["calls"]}
        # Typical are 16, 4 and 1; 13 is the prime below the highest.
        assert said["right"] and {f"{dim}=1", f"{dim}=4", f"{dim}=13", f"{dim}=16"} < sizes and len(sizes) == 5, sizes
        said = tunesmith("network", "verify", built, "--dim", f"{dim}=11").stdout
        assert said.startswith(f"with {dim}=11:\n") and "WRONG" not in said, said
        assert "varies in this library from 1 to 16" in tunesmith("network", "verify", built, "--dim", f"{dim}=17", code=2).stderr


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", Type), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def tensor(*shape, axes=None):
    elements = 1
    for extent in shape:
        elements *= max(extent, 1)
    data = (ctypes.c_float * elements)(*[(i * 7 % 13 - 6) / 8 for i in range(elements)])
    made = DLTensor(ctypes.cast(data, ctypes.c_void_p), Device(1, 0), len(shape), Type(2, 32, 1), (ctypes.c_int64 * len(shape))(*shape), None, 0)
    made.kept = data
    return made


def wrong_extents_are_refused_at_the_call(folder):
    built = build("perceptron", folder / "perceptron", "batch=2..16:typical=8")
    header = (built / "net.h").read_text()
    assert "input 0: X f32 [batch, 24]" in header and "batch: 2 to 16" in header and "net_output_shape" in header, header
    library = ctypes.CDLL(str(built / "libnet.so"))
    model = ctypes.c_void_p()
    assert library.net_open(str(built / "net.weights").encode(), ctypes.byref(model)) == OK

    def call(given, result):
        inputs, outputs = (ctypes.POINTER(DLTensor) * 1)(ctypes.pointer(given)), (ctypes.POINTER(DLTensor) * 1)(ctypes.pointer(result))
        return library.net_run(model, inputs, outputs, None)

    for batch in (2, 5, 16):
        assert call(tensor(batch, 24), tensor(batch, 10)) == OK, batch
        shape = (ctypes.c_int64 * 2)()
        assert library.net_output_shape((ctypes.POINTER(DLTensor) * 1)(ctypes.pointer(tensor(batch, 24))), 0, shape) == OK
        assert list(shape) == [batch, 10], list(shape)
    for batch in (0, 1, 17):  # wrong batches of the input
        assert call(tensor(batch, 24), tensor(batch, 10)) == WRONG_SHAPE, batch
    assert call(tensor(5, 24), tensor(6, 10)) == WRONG_SHAPE + 256  # of the output
    assert call(tensor(5, 23), tensor(5, 10)) == WRONG_SHAPE
    assert call(tensor(5, 24, 1), tensor(5, 10)) == WRONG_RANK
    # A row has the same bits in any batch, since programs without a schedule compute row by row.
    many, alone = tensor(16, 10), tensor(2, 10)
    assert call(tensor(16, 24), many) == OK and call(tensor(2, 24), alone) == OK
    assert list(many.kept)[:20] == list(alone.kept)[:20]
    library.net_close(model)


def what_cannot_vary_is_refused_by_name(folder):
    def refused(wanted, nodes, inputs, outputs, weights=(), dim="batch=1..16"):
        file = folder / "refused.onnx"
        file.write_bytes(model(nodes, inputs, outputs, weights))
        said = tunesmith("network", "build", file, "--dim", dim, "--unscheduled", "--output", folder / "out", code=2).stderr
        assert all(each in said for each in wanted), said
        assert "give a single value instead of a range: --dim batch=16" in said, said
        assert not list((folder / "out").glob("*.so")), said

    # A product of what varies.
    refused(["'batch'", "tensor 'Y'", "linear function of the varying extents"], [node("Flatten", ["X"], ["Y"], "flat")],
            [tensor_value("X", "batch", "batch", "batch")], [tensor_value("Y", "batch", "all")])
    # Shapes that fit one value alone.
    refused(["'batch'", "with batch=15", "node 'sum' (Add@17)"], [node("Add", ["X", "W"], ["Y"], "sum")],
            [tensor_value("X", "batch", 2)], [tensor_value("Y", "batch", 2)], [("W", [float(i) for i in range(32)], 16, 2)])


def a_library_for_a_range_is_not_much_larger(folder):
    for name in NAMES:
        sizes = []
        for dim in (f"{dim_of(name)}=16", f"{dim_of(name)}=1..16"):
            built = build(name, folder / f"{name}_{dim}", dim)
            sizes.append((built / "libnet.so").stat().st_size)
            weights = (built / "net.weights").stat().st_size
        print(f"{name}: {sizes[0]} and {sizes[1]} bytes, {sizes[1] / sizes[0]:.2f} times; weights {weights}")
        assert sizes[1] <= 3 * sizes[0], (name, sizes)


def several_programs_are_right(folder):
    """Built of the records with times that differ by batch: each task has two intervals."""
    exported = tunesmith("records", "export", "--database", folder / "records.db").stdout
    (folder / "other.jsonl").write_text(with_times(exported, [lambda batch: 1e-4 * batch, lambda batch: 1.9e-5 * batch * batch]))
    tunesmith("records", "import", folder / "other.jsonl", "--database", folder / "other.db")
    built = json.loads(tunesmith("network", "build", KEPT / "perceptron/model.onnx", "--dim", "batch=1..16:typical=2,8", "--threads", 1, "--space", "cpu-random",
                                 "--database", folder / "other.db", "--name", "net", "--output", folder / "several", "--json").stdout)
    assert built["intervals"] and all("=1..5: record" in one["intervals"] and "=6..16: record" in one["intervals"] for one in built["intervals"]), built
    header = (folder / "several/net.h").read_text()
    assert all(one["intervals"] in header for one in built["intervals"]), header
    for batch in SIZES:
        kept = folder_of("perceptron", batch)
        tunesmith("network", "run", folder / "several", "--input", kept / "input_0.npy", "--output", folder / "out")
        (shape, found), (_, wanted) = values(folder / "out/output_0.npy"), values(kept / "expected_0.npy")
        assert shape == [batch, 10] and all(abs(a - b) <= 1e-5 + 1e-4 * abs(b) for a, b in zip(found, wanted)), batch
    assert json.loads(tunesmith("network", "verify", folder / "several", "--json").stdout)["right"]


def all_tasks_are_tuned_for_the_range(folder):
    for name, trials in (("perceptron", 12), ("attention", 60)):
        dim, built, kept = dim_of(name), folder / name, folder_of(name, 7)
        said = tunesmith("network", "tune", KEPT / name / "model.onnx", "--dim", f"{dim}=1..16:typical=2,8", "--trials", trials, "--threads", 1,
                         "--space", "cpu-random", "--database", folder / "records.db", "--name", "net", "--output", built).stdout
        assert "kernels a call" in said, said
        assert json.loads(tunesmith("network", "verify", built, "--json").stdout)["right"]
        run(built, kept, folder)
        (shape, found), (wanted_shape, wanted) = values(folder / "out/output_0.npy"), values(kept / "expected_0.npy")
        assert shape == wanted_shape and all(abs(a - b) <= 1e-5 + 1e-4 * abs(b) for a, b in zip(found, wanted))
        said = json.loads(tunesmith("network", "bench", built, "--dim", f"{dim}=3", "--calls", 3, "--threads", 1, "--json").stdout)
        assert said["extents"] == f"{dim}=3" and said["seconds"] > 0, said
        if name == "perceptron":
            several_programs_are_right(folder)


parser = argparse.ArgumentParser()
parser.add_argument("--tunesmith", required=True)
parser.add_argument("test")
arguments = parser.parse_args()
TUNESMITH = arguments.tunesmith
listed = json.loads(subprocess.run([TUNESMITH, "plugins", "list", "--json"], capture_output=True, text=True, check=True).stdout)
if "onnx" not in [plugin["id"] for plugin in listed["plugins"] if plugin["kind"] == "importer"]:
    print("this build has no importer of ONNX files")
    sys.exit(77)
with tempfile.TemporaryDirectory() as temporary:
    os.environ["XDG_DATA_HOME"] = temporary
    os.environ["TUNESMITH_MACHINE_LOCK"] = f"{temporary}/machine.lock"  # waits for no other test
    globals()[arguments.test](pathlib.Path(temporary))
