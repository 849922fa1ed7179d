#!/usr/bin/env python3
"""The commands for whole networks. Usage: networks.py --tunesmith PATH [--bad FOLDER] TEST"""
import argparse
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import closing

from onnx_files import field, model, node, tensor_value, varint


def small_model():
    return model([node("Add", ["X", "W"], ["S"], "add"), node("Relu", ["S"], ["R"]), node("Relu", ["R"], ["Q"]), node("Odd", ["Q"], ["Y"], "odd", "nobody")],
                 [tensor_value("X", "batch", 2)], [tensor_value("Y", "batch", 2)], [("W", [1.0, 2.0])])


def run(*words, code=0):
    done = subprocess.run([TUNESMITH, "network", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def importers():
    listed = subprocess.run([TUNESMITH, "plugins", "list", "--json"], capture_output=True, text=True, check=True).stdout
    return [plugin["id"] for plugin in json.loads(listed)["plugins"] if plugin["kind"] == "importer"]


def needs_onnx():
    if "onnx" not in importers():
        print("this build has no importer of ONNX files")
        sys.exit(77)


def a_network_is_summarised(folder):
    needs_onnx()
    file = folder / "small.onnx"
    file.write_bytes(small_model())
    said = run("import", file, code=3).stdout  # no such network can be built
    for line in ("network small", "input X: f32[batch, 2]", "output Y: f32[batch, 2]", "nodes: 4 (Relu 2, Add 1, nobody.Odd 1)", "weights: 8 bytes in 1 tensors"):
        assert line in said.splitlines(), (line, said)
    assert "  nobody.Odd@3: 'odd'\n" in said, said
    said = json.loads(run("import", file, "--json", code=3).stdout)
    assert said["inputs"] == [{"name": "X", "type": "f32", "shape": ["batch", 2]}] and said["outputs"][0]["name"] == "Y", said
    assert said["nodes"] == 4 and said["operators"] == {"Add": 1, "Relu": 2, "nobody.Odd": 1} and said["weights"] == {"tensors": 1, "bytes": 8}, said
    assert {"op": "nobody.Odd", "version": 3, "nodes": ["odd"]} in said["unknown_operators"] and said["importer"] == "onnx", said
    file.write_bytes(two_layers())
    assert run("import", file).stdout.endswith("only the names of operators are checked, not values; --dim gives batch\n")
    assert run("import", file, "--dim", "batch=3").stdout.endswith("2 kernels a call, 1 tasks\n")
    # Extents that follow from the inputs' need no values.
    file.write_bytes(model([node("Relu", ["X"], ["Y"])], [tensor_value("X", 3, 2)], [tensor_value("Y", "Relu_dim_0", 2)]))
    assert run("import", file).stdout.endswith("1 kernels a call, 1 tasks\n")
    # The operators are known, but the shapes do not fit.
    file.write_bytes(model([node("Add", ["X", "W"], ["Y"], "odd")], [tensor_value("X", 2, 3)], [tensor_value("Y", 2, 3)], [("W", [1.0, 2.0])]))
    done = run("import", file, code=3)
    assert "nodes: 1 (Add 1)" in done.stdout and "node 'odd' (Add@17)" in done.stderr, done
    said = json.loads(run("import", file, "--json", code=3).stdout)
    assert "node 'odd'" in said["refused"] and said["kernels"] is None and said["open_extents"] == [] and not said["unknown_operators"], said
    # One message names operators and attributes; nodes that no result needs are not refused.
    file.write_bytes(model([node("Add", ["X", "W"], ["A"], "odd"), node("Odd", ["X"], ["B"], "foreign", "nobody"), node("Odd", ["X"], ["C"], "unread", "nobody")],
                           [tensor_value("X", 2, 3)], [tensor_value("A", 2, 3), tensor_value("B", 2, 3)], [("W", [1.0, 2.0])]))
    done = run("import", file, code=3)
    assert "node 'odd' (Add@17)" in done.stderr and "unsupported operator nobody.Odd@3: node 'foreign'" in done.stderr and "unread" not in done.stderr, done
    outline = run("import", file, "--outline", code=3).stdout
    assert "odd: A: f32[2, 3] = Add@17(X, W)\n  refused: " in outline and "foreign: B: f32[2, 3] = nobody.Odd@3(X)\n  refused: unsupported operator\n" in outline, outline
    assert outline.count("refused: ") == 2, outline
    nodes = json.loads(run("import", file, "--outline", "--json", code=3).stdout)["outline"]["nodes"]
    assert [node["name"] for node in nodes if "refused" in node] == ["odd", "foreign"], nodes
    file.write_bytes(two_layers())
    assert "f32[3, " in run("import", file, "--outline", "--dim", "batch=3").stdout and "refused" not in run("import", file, "--outline").stdout


NODES_IN_NODES = pathlib.Path(__file__).parent.parent / "networks/bodies/if_in_if_by_data/model.onnx"


def a_network_is_shown(folder):
    needs_onnx()
    assert "nodes: 5 (If 2, Add 1, Mul 1, Neg 1)" in run("import", NODES_IN_NODES).stdout.splitlines()
    bodies = json.loads(run("show", NODES_IN_NODES, "--json").stdout)["nodes"][0]["bodies"]
    assert bodies["else_branch"]["nodes"][0]["op"] == "Add" and "then_branch" in bodies["then_branch"]["nodes"][0]["bodies"], bodies
    file = folder / "small.model"  # recognised by its first bytes
    file.write_bytes(small_model())
    said = run("show", file).stdout
    assert said.splitlines()[3:] == ["add: S: ?[...] = Add@17(X, W)", "Relu: R: ?[...] = Relu@17(S)", "Relu_1: Q: ?[...] = Relu@17(R)",
                                     "odd: Y: f32[batch, 2] = nobody.Odd@3(Q)", "output Y: f32[batch, 2]"], said
    assert run("show", file, "--dim", "batch=3").stdout == run("show", file).stdout  # as it is read
    assert "open extents: batch" in run("show", file, "--dim", "rows=3", code=2).stderr
    said = json.loads(run("show", file, "--json").stdout)
    assert [each["op"] for each in said["nodes"]] == ["Add", "Relu", "Relu", "nobody.Odd"] and said["nodes"][0]["inputs"] == ["X", "W"], said
    assert {"name": "W", "type": "f32", "shape": [2], "constant": True, "order": [], "part": None} in said["tensors"], said


def bad_files_are_refused(folder):
    needs_onnx()
    whole = small_model()
    texts = {"cut.onnx": whole[:len(whole) // 2], "empty.onnx": b"", "other.txt": b"name: gmm\n",
             "refused.onnx": model([node("Neg", ["Z"], ["Y"], "lost")], [], [tensor_value("Y", 1)])}
    for name, content in texts.items():
        (folder / name).write_bytes(content)
    for name, wanted in (("cut.onnx", "damaged or truncated"), ("empty.onnx", "the file is empty"), ("other.txt", "no importer can read it; tried onnx"),
                         ("none.onnx", "No such file"), (".", "not a file"), ("refused.onnx", "node 'lost' (Neg): nothing computes its input 'Z'")):
        for command in ("import", "show"):
            done = run(command, folder / name, code=2)
            assert wanted in done.stderr and done.stderr.startswith(f"tunesmith: {folder / name}: ") and not done.stdout, (name, done.stderr, done.stdout)


def tensor_file(name, *values):
    """TensorProto of f32."""
    return field(1, len(values)) + field(2, 1) + field(8, name) + field(9, struct.pack(f"<{len(values)}f", *values))


def write_test(folder, nodes, expected):
    """A test in ONNX's format with one input, [1, -2]."""
    (folder / "test_data_set_0").mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model(nodes, [tensor_value("X", "n")], [tensor_value("Y", "n")], [("W", [1.0, 2.0])]))
    (folder / "test_data_set_0/input_0.pb").write_bytes(tensor_file("X", 1.0, -2.0))
    (folder / "test_data_set_0/output_0.pb").write_bytes(tensor_file("Y", *expected))


def folders_of_tests_are_counted(folder):
    needs_onnx()
    sum_of_both = [node("Add", ["X", "W"], ["S"], "add"), node("Relu", ["S"], ["Y"], "relu")]
    write_test(folder / "right/one", sum_of_both, [2.0, 0.0])
    write_test(folder / "right/two", [node("Odd", ["X"], ["Y"], "odd", "nobody")], [2.0, 0.0])
    said = run("test", folder / "right").stdout
    assert "     1  nobody.Odd: unsupported operator\n" in said and said.endswith("compiled: 1 passed, 1 refused, 0 wrong\n"), said
    said = run("test", folder / "right/one", "-v").stdout
    assert said == f"passed   {folder}/right/one\ncompiled: 1 passed, 0 refused, 0 wrong\n", said
    for way, name in ((["--interpret"], "interpreted"), (["--build"], "built"), (["--build", "--processes", 1], "built")):
        assert run("test", folder / "right", *way).stdout.endswith(f"{name}: 1 passed, 1 refused, 0 wrong\n"), way
    write_test(folder / "wrong", sum_of_both, [2.0, 0.5])
    said = run("test", folder / "right", folder / "wrong", code=1).stdout
    assert f"wrong: {folder}/wrong: test_data_set_0: output 'Y': element 1 is 0, expected 0.5\n" in said, said
    for way, name in ((["--interpret"], "interpreted"), (["--build"], "built"), ([], "compiled")):
        said = json.loads(run("test", folder, "--json", *way, code=1).stdout)
        assert (said["computed"], said["passed"], said["refused"], said["wrong"]) == (name, 1, 1, 1), said
    assert [each["result"] for each in said["tests"]] == ["passed", "refused", "wrong"] and said["tests"][1]["operator"] == "nobody.Odd", said
    (folder / "right/one/test_data_set_0/output_0.pb").write_bytes(tensor_file("Y", 2.0, 0.0)[:-3])
    assert "not a tensor" in run("test", folder / "right/one").stdout
    (folder / "nothing").mkdir()
    assert "no folder with a model.onnx found" in run("test", folder / "nothing", code=2).stderr


SCALE = """
name: scale
operator: nobody.Odd
params: {n: 1, c: 1, dtype: f32, alpha: 0.5}
inputs:
  X: {shape: [n, c], dtype: dtype}
compute: |
  Y[i<n, j<c] = X[i, j] * alpha + 1
outputs: [Y]
"""


def operators_come_from_files(folder):
    """One that no importer knows, from a workload file: read, built, run, verified, refused where it does not fit."""
    needs_onnx()
    alpha = field(5, field(1, "alpha") + varint(2 << 3 | 5) + struct.pack("<f", 0.25) + field(20, 1))
    odd = [node("Relu", ["X"], ["R"]), node("Odd", ["R"], ["Y"], "odd", "nobody") + alpha]
    (folder / "odd.onnx").write_bytes(model(odd, [tensor_value("X", 2, 2)], [tensor_value("Y", 2, 2)]))
    (folder / "scale.yaml").write_text(SCALE)
    assert "--operators" in run("import", folder / "odd.onnx", code=3).stderr
    assert "1 kernels a call" in run("import", folder / "odd.onnx", "--operators", folder / "scale.yaml").stdout
    run("build", folder / "odd.onnx", "--operators", folder / "scale.yaml", "--unscheduled", "--output", folder / "built")
    (folder / "x.npy").write_bytes(npy([[4.0, -8.0], [0.0, 1.0]]))
    run("run", folder / "built", "--input", folder / "x.npy", "--output", folder / "out")
    assert (folder / "out/output_0.npy").read_bytes() == npy([[2.0, 1.0], [1.0, 1.25]])
    run("verify", folder / "built")
    (folder / "own").mkdir()
    (folder / "own/rows.yaml").write_text(SCALE.replace("[n, c]", "[n]").replace("c: 1, ", "").replace(", j<c", "").replace("[i, j]", "[i]"))
    assert "rows.yaml: input 1 ('X') has 1 dimensions, not 2" in run("import", folder / "odd.onnx", "--operators", folder / "own", code=3).stderr
    (folder / "own/scale.yaml").write_text(SCALE)
    run("import", folder / "odd.onnx", "--operators", folder / "own")
    for text, wanted in ((SCALE.replace("operator: nobody.Odd\n", ""), "this workload defines no operator"), (SCALE.replace("alpha", "beta"), "attribute 'alpha' is not a parameter of scale"),
                         (SCALE.replace("X[i, j]", "Z[i, j]"), "'Z'")):
        (folder / "bad.yaml").write_text(text)
        done = subprocess.run([TUNESMITH, "network", "import", folder / "odd.onnx", "--operators", folder / "bad.yaml"], capture_output=True, text=True)
        assert done.returncode in (2, 3) and wanted in done.stderr, done.stderr


def kept_networks_give_what_is_expected(_):
    needs_onnx()
    folder = pathlib.Path(__file__).parent.parent / "networks"
    said = json.loads(run("test", folder, "--build", "--json").stdout)
    bad = [f"{each['folder']}: {each['message']}" for each in said["tests"] if each["result"] != "passed"]
    assert said["passed"] > 0 and not bad, "\n".join(bad)


def a_test_whose_process_ends_is_wrong_and_no_other(folder):
    needs_onnx()
    for number in range(20):
        write_test(folder / f"tests/{number:02}", [node("Add", ["X", "W"], ["S"], "add"), node("Relu", ["S"], ["Y"], "relu")], [2.0, 0.0])
    running = subprocess.Popen([TUNESMITH, "network", "test", folder / "tests", "--build", "--json", "--processes", "1"], stdout=subprocess.PIPE, text=True)
    children = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children")
    while not children.read_text().split():
        pass
    os.kill(int(children.read_text().split()[0]), signal.SIGSEGV)
    said = json.loads(running.communicate()[0])
    assert running.returncode == 1 and (said["passed"], said["wrong"]) == (19, 1), said
    wrong = [each for each in said["tests"] if each["result"] == "wrong"]
    assert "ended by signal 11" in wrong[0]["message"] and wrong[0]["cause"] == "its process ended", wrong


WIDTH = 16
WEIGHTS = [[((3 * i + 5 * j) % 11 - 5) / 8 for j in range(WIDTH)] for i in range(WIDTH)]
BIAS = [(j % 5 - 2) / 4 for j in range(WIDTH)]


def two_layers(weights=WEIGHTS, before=()):
    """relu(relu(X W + B) W + B): two kernels of one task. `before`: names of tensors that make all others later ones."""
    nodes = [node("Constant", [], [name]) + field(5, field(1, "value") + field(20, 4) + field(5, tensor_file(name, 1.0))) for name in before]
    for layer, source, result in ((1, "X", "H"), (2, "H", "Y")):
        nodes += [node("MatMul", [source, "W"], [f"P{layer}"]), node("Add", [f"P{layer}", "B"], [f"S{layer}"]), node("Relu", [f"S{layer}"], [result])]
    flat = [value for row in weights for value in row]
    return model(nodes, [tensor_value("X", "batch", WIDTH)], [tensor_value("Y", "batch", WIDTH)], [("W", flat, WIDTH, WIDTH), ("B", BIAS)])


def joined():
    """relu(X W) and relu(relu(X W) W) side by side, and a product of both: the concatenation needs no kernel."""
    nodes = [node("MatMul", ["X", "W"], ["P"]), node("Relu", ["P"], ["H"]), node("MatMul", ["H", "W"], ["Q"]), node("Relu", ["Q"], ["G"]),
             node("Concat", ["H", "G"], ["J"]) + field(5, field(1, "axis") + field(3, 1) + field(20, 2)), node("MatMul", ["J", "V"], ["Y"])]
    flat = [value for row in WEIGHTS for value in row]
    return model(nodes, [tensor_value("X", "batch", WIDTH)], [tensor_value("Y", "batch", WIDTH)], [("W", flat, WIDTH, WIDTH), ("V", flat + flat, 2 * WIDTH, WIDTH)])


def layer(rows):
    return [[max(0.0, BIAS[j] + sum(row[k] * WEIGHTS[k][j] for k in range(WIDTH))) for j in range(WIDTH)] for row in rows]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


def matrix(rows):
    """A tensor of f32 and the memory that it points to."""
    values = (ctypes.c_float * (len(rows) * WIDTH))(*[value for row in rows for value in row])
    shape = (ctypes.c_int64 * 2)(len(rows), WIDTH)
    return DLTensor(ctypes.addressof(values), (ctypes.c_int32 * 2)(1, 0), 2, 2, 32, 1, ctypes.addressof(shape), None, 0), values, shape


def called(folder, rows):
    """The results of the library in this folder for these rows."""
    library = ctypes.CDLL(str(folder / "libtwo.so"))
    model_of = ctypes.c_void_p()
    assert library.two_open(str(folder / "two.weights").encode(), ctypes.byref(model_of)) == 0
    assert library.two_check_weights(model_of) == 0
    given, result = matrix(rows), matrix([[0.0] * WIDTH for _ in rows])
    inputs, outputs = (ctypes.c_void_p * 1)(ctypes.addressof(given[0])), (ctypes.c_void_p * 1)(ctypes.addressof(result[0]))
    assert library.two_run(model_of, inputs, outputs, None) == 0
    library.two_close(model_of)
    return [list(result[1][i * WIDTH:(i + 1) * WIDTH]) for i in range(len(rows))]


def a_network_is_tuned_and_built(folder):
    needs_onnx()
    file, tasks, built, database = folder / "two.onnx", folder / "tasks", folder / "built", folder / "records.db"
    file.write_bytes(two_layers())
    said = run("tasks", file, "--dim", "batch=3", "--output", tasks).stdout
    assert "2 kernels a call, 1 tasks" in said and f"tunesmith tune {tasks}/tasks.yaml" in said, said
    common = ["--dim", "batch=3", "--output", built, "--database", database, "--space", "cpu-random", "--threads", 1]
    assert "no such record store" in run("build", file, *common, code=2).stderr
    subprocess.run([TUNESMITH, "tune", tasks / "tasks.yaml", "--trials", "4", "--database", database, "--space", "cpu-random", "--threads", "1", "--quiet"],
                   check=True, capture_output=True)
    refused = run("build", file, *common[:-1], 2, code=2).stderr
    assert "1 of 1 tasks have no record" in refused and "matmul_add_relu -> [3, 16]" in refused and "network tune" in refused, refused
    assert "tunesmith tune matmul" not in refused, refused  # matmul is not a workload's name
    for records in (database, folder / "none.db"):
        run("build", file, "--dim", "batch=3", "--output", built, "--space", "cpu-random", "--threads", 2, "--unscheduled", "--database", records)
        assert "2 of 2 steps are correct" in run("verify", built).stdout
    said = json.loads(run("build", file, *common, "--json").stdout)
    assert said["kernels"] == 2 and said["library"] == str(built / "libtwo.so"), said
    rows = [[(i - j) / 8 for j in range(WIDTH)] for i in range(3)]
    for mine, right in zip(called(built, rows), layer(layer(rows))):
        assert all(abs(a - b) < 1e-4 for a, b in zip(mine, right)), (mine, right)
    program = built / "main"
    subprocess.run(["cc", "-O1", built / "two_main.c", "-I", built, "-L", built, "-ltwo", f"-Wl,-rpath,{built}", "-o", program], check=True)
    printed = subprocess.run([program, "20", built / "two.weights"], check=True, capture_output=True, text=True).stdout
    assert "20 calls" in printed and printed.count("matmul_add_relu") == 2, printed


def no_library_is_linked_in_vain(folder):
    needs_onnx()
    file, calls = folder / "two.onnx", folder / "calls"
    file.write_bytes(two_layers())
    compiler = folder / "bin/cc"
    compiler.parent.mkdir()
    compiler.write_text(f"#!/bin/sh\necho \"$*\" >> {calls}\nexec {shutil.which('cc')} \"$@\"\n")
    compiler.chmod(0o755)
    os.environ["PATH"] = f"{compiler.parent}:{os.environ['PATH']}"
    for trials in (1, 4):
        run("tune", file, "--dim", "batch=3", "--database", folder / f"{trials}.db", "--space", "cpu-random", "--threads", 1, "--output", folder / "built", "--trials", trials)
        linked = [line for line in calls.read_text().splitlines() if "-shared" in line]
        calls.unlink()
        # The rehearsal and the result; before that, where there is a choice, the best of each task, and the others.
        assert len(linked) == 2 if trials == 1 else len(linked) > 3, linked
        assert all(line.count(".c ") == 1 for line in linked), linked


def a_network_is_tuned_in_one_command(folder):
    needs_onnx()
    file, built, database = folder / "two.onnx", folder / "built", folder / "records.db"
    file.write_bytes(two_layers())
    common = ["--dim", "batch=3", "--database", database, "--space", "cpu-random", "--threads", 1]
    said = run("tune", file, *common, "--output", built, "--trials", 6).stdout
    assert "1 tasks: 6 trials" in said and "in place: " in said and f"built {built}/libtwo.so" in said, said
    assert "2 of 2 steps are correct" in run("verify", built).stdout
    assert not list(built.glob("in_place*"))
    # Recorded programs are not measured again, and the output is one JSON object.
    said = json.loads(run("tune", file, *common, "--output", built, "--trials", 6, "--json").stdout)
    assert said["tuning"]["tasks"][0]["resumed"] == 6 and said["built"]["kernels"] == 2 and said["in_place"]["other_programs"] in (0, 1), said
    said = json.loads(run("build", file, *common, "--output", folder / "again", "--in-place", "--json").stdout)
    assert said["kernels"] == 2 and 0 <= said["in_place"]["p"] <= 1, said
    assert "2 of 2 steps are correct" in run("verify", folder / "again").stdout
    assert "excludes" in run("build", file, *common, "--in-place", "--unscheduled", code=2).stderr
    assert "has no open extent with this name" in run("tune", file, "--dim", "rows=3", code=2).stderr
    assert "is not a C identifier" in run("tune", file, *common, "--name", "2x", code=2).stderr
    # It begins with the programs that --untuned would time, which are the same for every seed.
    def programs(seed):
        store = folder / f"seed{seed}.db"
        run("tune", file, "--dim", "batch=3", "--database", store, "--threads", 1, "--seed", seed, "--trials", 6, "--output", folder / f"of{seed}")
        with closing(sqlite3.connect(store)) as connection:
            return [row[0] for row in connection.execute("select lowered_hash from record where kind = 'search' order by seq")]

    assert programs(1) == programs(2) and len(programs(1)) == 6
    # An error that would occur at the end is found before anything is measured.
    fresh = [folder / "none.db" if word == database else word for word in common]
    for name in ("sem", "shm"):
        assert f"'{name}_open' cannot name" in run("tune", file, *fresh, "--name", name, code=2).stderr
    assert "cannot create the folder" in run("tune", file, *fresh, "--output", file / "in_a_file", code=2).stderr
    assert not (folder / "none.db").exists()


def shrink(source, result, bias):
    """x plus or minus a number, on either side of 0."""
    attributes = ((b"lambd", 0.0), (b"bias", bias))
    return node("Shrink", [source], [result]) + b"".join(field(5, field(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + field(20, 1)) for name, value in attributes)


def what_cannot_be_verified_is_left_as_it_is_written(folder):
    needs_onnx()
    file, built, database = folder / "two.onnx", folder / "built/here", folder / "records.db"
    # Adding and subtracting 1e9 leaves nothing of an f32's digits.
    nodes = [node("Relu", ["X"], ["Y"]), node("MatMul", ["Y", "W"], ["Z"]), shrink("Z", "A", -1e9), shrink("A", "B", 1e9)]
    flat = [value for row in WEIGHTS for value in row]
    file.write_bytes(model(nodes, [tensor_value("X", 3, WIDTH)], [tensor_value("Y", 3, WIDTH), tensor_value("B", 3, WIDTH)], [("W", flat, WIDTH, WIDTH)]))
    common = ["tune", file, "--space", "cpu-random", "--threads", 1, "--trials", 2]
    # All refusals come before any measurement.
    for words, wanted in (("--name sem", "'sem_open' cannot name"), (f"--output {file}/built", "cannot create the folder"),
                          (f"--output {built} --model-file {file}", "")):
        assert wanted in run(*common, "--database", database, *words.split(), code=2).stderr, words
        assert not database.exists() or "--model-file" in words, words
        assert not built.parent.exists(), words
    said = run(*common, "--database", database, "--output", built)
    assert "shrink" in said.stderr and "cannot be verified" in said.stderr, said.stderr
    assert "1 of 2 tasks use their unscheduled program:\n  matmul_shrink_shrink -> [3, 16]: " in said.stdout and "cannot be verified: rounding" in said.stdout, said.stdout
    assert "2 trials cover only the unscheduled programs of 2 tasks: --trials 32 allows a round for each" in said.stderr, said.stderr
    assert "unscheduled: matmul_shrink_shrink" in (built / "two.h").read_text()
    verified = run("verify", built, code=1).stdout
    assert "1 of 2 steps are correct" in verified and "it is not verified" in verified, verified
    as_written = json.loads(run("build", file, "--output", built, *common[2:-2], "--database", database, "--unscheduled", "--json").stdout)["as_written"]
    assert as_written == [{"name": "matmul_shrink_shrink -> [3, 16]", "why": "no record"}], as_written
    # With --untuned the first task gets its first program; the other task cannot be verified.
    said = run("build", file, "--output", built, *common[2:-2], "--database", folder / "none.db", "--untuned", "--draws", 20, "--json")
    parts = json.loads(said.stdout)
    assert [one["name"] for one in parts["untuned"]] == ["relu -> [3, 16]"] and "of 20 draws by the cost model" in parts["untuned"][0]["how"], parts
    assert [one["name"] for one in parts["as_written"]] == ["matmul_shrink_shrink -> [3, 16]"] and parts["as_written"][0]["why"] != "no record", parts
    assert "untuned: the fastest of the best" in (built / "two.h").read_text() and not (folder / "none.db").exists()
    # The first task has the only trial.
    said = run(*common[:-1], 1, "--database", folder / "other.db", "--output", built).stdout
    assert "1 not searched, as the budget covers only their unscheduled programs: relu -> [3, 16]" in said, said
    assert "matmul_shrink_shrink -> [3, 16]: the budget was spent before its first trial" in said, said


def what_there_is_no_memory_to_measure_is_left_as_it_is_written(folder):
    needs_onnx()
    # Simulates a machine with 200 MB left by another /proc/meminfo in a new namespace.
    file, left, database = folder / "two.onnx", folder / "meminfo", folder / "records.db"
    left.write_text("MemTotal: 200000 kB\nMemAvailable: 200000 kB\n")
    alone = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'mount --bind {left} /proc/meminfo && exec "$@"', "sh"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
        print("this system lets no user have namespaces")
        sys.exit(77)
    rows = 240000  # 15 MB a tensor, and some 290 to measure it
    nodes = [node("Relu", ["X"], ["Y"]), node("MatMul", ["S", "W"], ["Z"])]
    flat = [value for row in WEIGHTS for value in row]
    file.write_bytes(model(nodes, [tensor_value("X", rows, WIDTH), tensor_value("S", 3, WIDTH)], [tensor_value("Y", rows, WIDTH), tensor_value("Z", 3, WIDTH)], [("W", flat, WIDTH, WIDTH)]))
    done = subprocess.run([*alone, TUNESMITH, "network", "tune", file, "--space", "cpu-random", "--threads", "1", "--trials", "3", "--database", database, "--output", folder / "built"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "measuring it needs about" in done.stderr and "keeps its unscheduled program" in done.stderr, done.stderr
    assert "1 of 2 tasks use their unscheduled program:\n  relu -> [240000, 16]: measuring it needs about" in done.stdout, done.stdout


def equal_kernels_of_two_networks_share_their_records(folder):
    """Two networks share tasks although their arrays have different names."""
    needs_onnx()
    first, second, built, database = folder / "two.onnx", folder / "other.onnx", folder / "built", folder / "records.db"
    first.write_bytes(two_layers())
    second.write_bytes(two_layers(before=("C", "D", "E")))
    common = ["--dim", "batch=3", "--database", database, "--space", "cpu-random", "--threads", 1, "--output", built]
    run("tune", first, *common, "--trials", 6)
    said = run("build", second, *common, "--name", "two").stdout
    assert "2 kernels a call" in said and "2 of 2 steps are correct" in run("verify", built).stdout
    said = json.loads(run("tune", second, *common, "--name", "two", "--trials", 6, "--json").stdout)
    assert said["tuning"]["tasks"][0]["resumed"] == 6 and said["built"], said
    assert "2 of 2 steps are correct" in run("verify", built).stdout


def an_interrupted_network_continues(folder):
    needs_onnx()
    file, database = folder / "two.onnx", folder / "records.db"
    file.write_bytes(two_layers())
    words = ["tune", file, "--dim", "batch=3", "--database", database, "--space", "cpu-random", "--threads", "1", "--output", folder / "built"]
    process = subprocess.Popen([TUNESMITH, "network", *map(str, words), "--trials", "100000", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        time.sleep(0.05)
        listed = subprocess.run([TUNESMITH, "records", "list", "--database", database], capture_output=True, text=True)
        if listed.returncode == 0 and "matmul_add_relu" in listed.stdout:
            break
    process.send_signal(signal.SIGINT)
    said, err = process.communicate(timeout=60)
    # On a busy machine the process may end before its summary.
    assert "no library built; run the same command to continue" in said or "everything measured so far is recorded" in err, (said, err)
    assert process.returncode == 130, (process.returncode, said)
    assert not (folder / "built").exists()
    assert json.loads(run(*words, "--trials", 4, "--json").stdout)["built"]["kernels"] == 2


def passes_are_shown(folder):
    needs_onnx()
    file = folder / "two.onnx"
    file.write_bytes(two_layers())
    said = run("show", file, "--passes", "--dim", "batch=3").stdout
    assert "\npass resolve: " in said and "\npass fix_shapes: " in said and "Y: f32[3, 16] = " in said, said
    assert "2 kernels a call, 1 tasks" in said and "   1  task 1    matmul_add_relu -> [3, 16]: " in said, said
    said = json.loads(run("show", file, "--passes", "--dim", "batch=3", "--json").stdout)
    assert said["passes"][0]["name"] == "resolve" and [kernel["task"] for kernel in said["kernels"]] == [1, 1], said
    assert "passes" not in json.loads(run("show", file, "--json").stdout)
    dot = run("show", file, "--dot", "--dim", "batch=3").stdout
    assert dot.startswith("digraph ") and dot.count("subgraph cluster_") == 2 and dot.count("-> ") >= 4 and 'label="f32[3, 16]"' in dot, dot
    assert 'label="1: task 1, matmul_add_relu -> [3, 16]"' in dot, dot
    (folder / "joined.onnx").write_bytes(joined())
    passes = json.loads(run("show", folder / "joined.onnx", "--passes", "--dim", "batch=3", "--json").stdout)["passes"]
    joining = next(one for one in passes if one["name"] == "join_in_place")
    parts = {tensor["name"]: tensor["part"] for tensor in joining["tensors"] if tensor["part"]}
    assert parts["H"] == {"of": "J", "begin": 0, "strides": [32, 1]} and parts["G"]["begin"] == 16, parts
    assert not any(tensor["part"] for tensor in passes[0]["tensors"]), passes[0]
    dot = run("show", folder / "joined.onnx", "--dot", "--dim", "batch=3").stdout
    assert dot.count("subgraph cluster_") == 3 and len(re.findall(r'-> k3_n\d+ \[label="f32\[3, 32\]"\]', dot)) == 2, dot


def built_of_two_layers(place):
    """Builds a library; returns its folder and the build's options."""
    file, tasks, built = place / "two.onnx", place / "tasks", place / "built"
    file.write_bytes(two_layers())
    run("tasks", file, "--dim", "batch=3", "--output", tasks)
    common = ["--database", place / "records.db", "--space", "cpu-random", "--threads", "1"]
    subprocess.run([TUNESMITH, "tune", tasks / "tasks.yaml", "--trials", "4", *common, "--quiet"], check=True, capture_output=True)
    run("build", file, "--dim", "batch=3", "--output", built, *common)
    return built, common


def a_built_library_is_verified_in_place(folder):
    needs_onnx()
    built, common = built_of_two_layers(folder)
    said = run("verify", built, "--calls", 2).stdout
    assert said.count("2 of 2 steps are correct") == 2 and "matmul_add_relu" in said and "WRONG" not in said, said
    said = json.loads(run("verify", built, "--json", "--seed", 7).stdout)
    assert said["right"] and said["name"] == "two" and said["calls"][0]["seed"] == 7 and said["calls"][0]["faults"] == [], said
    for step in said["calls"][0]["steps"]:
        assert step["right"] and 0 < step["worst"] <= 1 and step["elements"] == 3 * WIDTH and step["reference"] == "interpreted", step
    # Another model is refused; a description of another model makes all steps wrong.
    other = folder / "other.onnx"
    other.write_bytes(two_layers([[value + (0.001 if i == 3 else 0) for value in row] for i, row in enumerate(WEIGHTS)]))
    assert "was not built from this" in run("verify", built, "--model", other, code=2).stderr
    run("build", other, "--dim", "batch=3", "--output", folder / "second", "--name", "two", *common)
    (built / "two.json").write_bytes((folder / "second/two.json").read_bytes())
    said = run("verify", built, code=1).stdout
    assert "0 of 2 steps are correct" in said and "WRONG" in said and ("computes '" in said or "reads 'W'" in said), said
    assert not json.loads(run("verify", built, "--json", code=1).stdout)["right"]
    weights = bytearray((built / "two.weights").read_bytes())
    weights[-1] ^= 1
    (built / "two.weights").write_bytes(weights)
    assert "the weights are damaged" in run("verify", built, code=2).stderr
    assert "no network library found" in run("verify", folder / "tasks", code=2).stderr


def another_axis_of_a_masked_softmax_is_refused(folder):
    """The mask is the lowest number of its type, whose sums may overflow: such a step is compared on data that show the axis."""
    needs_onnx()
    kept = pathlib.Path(__file__).parent.parent / "networks/verify_void_masked_attention"
    for name in ("masked_attention", "masked_attention_other_axis"):
        run("build", kept / name / "model.onnx", "--unscheduled", "--name", "one", "--output", folder / name)
        run("verify", folder / name)
    for file in ("libone.so", "one.weights"):
        (folder / "masked_attention" / file).write_bytes((folder / "masked_attention_other_axis" / file).read_bytes())
    said = run("verify", folder / "masked_attention", code=1).stdout
    assert "WRONG" in said, said


def npy(rows):
    """Writes a matrix of f32 in NumPy's format."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(rows) * len(rows[0])}f", *[value for row in rows for value in row])


def a_built_library_is_run_and_timed(folder):
    needs_onnx()
    built, _ = built_of_two_layers(folder)
    rows = [[(i - j) / 8 for j in range(WIDTH)] for i in range(3)]
    right = npy(layer(layer(rows)))
    (folder / "x.npy").write_bytes(npy(rows))
    (folder / "x.pb").write_bytes(field(1, 3) + field(1, WIDTH) + field(2, 1) + field(9, struct.pack("<48f", *[value for row in rows for value in row])))
    for name in ("x.npy", "x.pb"):
        said = run("run", built, "--input", folder / name, "--output", folder / "out").stdout
        assert said.startswith("Y: f32 [3, 16], the largest magnitude "), said
        written = (folder / "out/output_0.npy").read_bytes()
        head = len(right) - 4 * 3 * WIDTH
        assert written[:head] == right[:head], written[:head]
        for mine, wanted in zip(struct.unpack("<48f", written[head:]), struct.unpack("<48f", right[head:])):
            assert abs(mine - wanted) < 1e-4, (mine, wanted)
    # NumPy writes a transposed array with its first axis innermost.
    columns = struct.pack("<48f", *[rows[i][j] for j in range(WIDTH) for i in range(3)])
    turned = npy(rows)[:-len(columns)].replace(b"'fortran_order': False", b"'fortran_order': True ") + columns
    assert b"True" in turned and len(turned) == len(npy(rows))
    (folder / "turned.npy").write_bytes(turned)
    run("run", built, "--input", folder / "turned.npy", "--output", folder / "turned")
    assert (folder / "turned/output_0.npy").read_bytes() == written
    assert json.loads(run("run", built, "--json").stdout)["outputs"] == [{"name": "Y", "type": "f32", "shape": [3, WIDTH], "file": ""}]
    for content, wanted in ((npy(rows[:2]), "it is f32 [2, 16], but input 'X' is f32 [3, 16]"), (npy(rows)[:-1], "expected 192 for its shape"), (b"no", "not a NumPy file"),
                            (npy(rows).replace(b"<f4", b"<c8"), "unsupported type '<c8'"), (npy(rows)[:50], "truncated")):
        (folder / "bad.npy").write_bytes(content)
        assert wanted in run("run", built, "--input", folder / "bad.npy", code=2).stderr, wanted
    assert "takes 1 inputs, found 2 files" in run("run", built, "--input", "a", "--input", "b", code=2).stderr

    said = json.loads(run("bench", built, "--calls", 20, "--threads", 1, "--json").stdout)
    assert said["threads"] == 1 and said["seconds"] > 0 and len(said["steps"]) == 2 and said["peaks_gflops"]["f32"] > 0, said
    assert abs(said["sum_of_steps"] - sum(step["seconds"] for step in said["steps"])) < 1e-12, said
    assert 0 < said["observed_seconds"] < 10 * said["median_seconds"], said
    assert abs(said["sum_of_medians"] - sum(step["median_seconds"] for step in said["steps"])) < 1e-12, said
    # 16 rows fit into any cache, so their traffic is not compared with memory's bandwidth.
    assert all(step["roof"] in ("compute", "cache") and (step["share_of_roof"] is None) == (step["roof"] == "cache") and step["flops"] == 1632 for step in said["steps"]), said
    assert all(0 <= step["waiting_share"] <= 1 and step["type"] == "f32" for step in said["steps"]), said
    assert [step["reads"] for step in said["steps"]] == [[], [0]] and all(step["operators"] for step in said["steps"]), said
    (folder / "timed.json").write_text(json.dumps(said))
    shown = subprocess.run([TUNESMITH, "report", "--network", folder / "timed.json", "--json"], capture_output=True, text=True, check=True).stdout
    assert json.loads(shown)["networks"] == [said], shown
    assert "roofs: " in run("bench", built, "--calls", 5).stdout


def results_are_files_of_numpys_of_their_types(folder):
    needs_onnx()
    file, tasks, built = folder / "casts.onnx", folder / "tasks", folder / "built"
    names = {4: ("<u2", "H"), 5: ("<i2", "h"), 12: ("<u4", "I"), 13: ("<u8", "Q")}  # by ONNX's number for the type
    casts = [node("Cast", ["X"], [f"Y{number}"]) for number in names]
    casts = [cast + field(5, field(1, "to") + field(3, number) + field(20, 2)) for cast, number in zip(casts, names)]
    outputs = [field(1, f"Y{number}") + field(2, field(1, field(1, number) + field(2, field(1, field(1, 3))))) for number in names]
    file.write_bytes(model(casts, [tensor_value("X", 3)], outputs))
    common = ["--database", folder / "records.db", "--space", "cpu-random", "--threads", "1"]
    run("tasks", file, "--output", tasks)
    subprocess.run([TUNESMITH, "tune", tasks / "tasks.yaml", "--trials", "8", *common, "--quiet"], check=True, capture_output=True)
    run("build", file, "--output", built, *common)
    (folder / "x.pb").write_bytes(tensor_file("X", 1, 200, 30000))
    run("run", built, "--input", folder / "x.pb", "--output", folder / "out")
    for i, (name, letter) in enumerate(names.values()):
        written = (folder / f"out/output_{i}.npy").read_bytes()
        assert f"'descr': '{name}'".encode() in written, written
        assert struct.unpack(f"<3{letter}", written[-3 * struct.calcsize(letter):]) == (1, 200, 30000), written


def a_result_whose_extent_is_data_is_cut_to_it(folder):
    needs_onnx()
    kept, built = pathlib.Path(__file__).parent.parent / "networks/counted/suppression_by_offsets", folder / "built"
    run("build", kept / "model.onnx", "--output", built, "--unscheduled", "--name", "net", "--database", folder / "none.db")
    header = (built / "net.h").read_text()
    for line in ("output 0: final boxes f32 [9, 4]", "output 3: count of final boxes i64 []", "Of output 0, axis 0 has as many elements as output 3 says"):
        assert line in header, (line, header)
    given = [word for i in range(3) for word in ("--input", kept / f"input_{i}.npy")]
    said = json.loads(run("run", built, *given, "--output", folder / "out", "--json").stdout)["outputs"]
    assert [output["shape"] for output in said] == [[9, 4], [9], [9]], said
    for i, bytes_of in enumerate((144, 72, 72)):
        assert (folder / f"out/output_{i}.npy").read_bytes()[-bytes_of:] == (kept / f"expected_{i}.npy").read_bytes()[-bytes_of:], i
    shapes = {tuple(json.loads(run("run", built, "--seed", seed, "--json").stdout)["outputs"][0]["shape"]) for seed in range(6)}
    assert len(shapes) > 1 and all(rows <= 9 and columns == 4 for rows, columns in shapes), shapes
    assert json.loads(run("verify", built, "--calls", 2, "--json").stdout)["right"]
    described = json.loads((built / "net.json").read_text())
    assert described["counted"][0] == {"output": 0, "axis": 0, "by": 3}, described["counted"]
    for damage in ({"output": 0, "axis": 2, "by": 3}, {"output": 0, "axis": 0, "by": 9}, {"output": 1, "axis": 0, "by": 0}):
        (built / "net.json").write_text(json.dumps({**described, "counted": [damage]}))
        assert "a count is of no output, or no output is it" in run("run", built, code=2).stderr


def dimensions_are_checked(folder):
    needs_onnx()
    file = folder / "two.onnx"
    file.write_bytes(two_layers())
    for wrong in ("batch", "batch=", "batch=0", "=3", "batch=3x"):
        assert "--dim batch=1" in run("tasks", file, "--dim", wrong, code=2).stderr, wrong
    assert "batch" in run("tasks", file, code=2).stderr
    assert "'batch' is given twice" in run("tasks", file, "--dim", "batch=2", "--dim", "batch=3", code=2).stderr
    assert "no_such_extent" in run("tasks", file, "--dim", "no_such_extent=3", "--dim", "batch=2", code=2).stderr


def no_importer_is_said(folder):
    if importers():
        print("this build has an importer")
        sys.exit(77)
    (folder / "small.onnx").write_bytes(small_model())
    assert "no importer can read it: this build has none" in run("import", folder / "small.onnx", code=4).stderr


def a_fault_of_an_importer_names_it(folder):
    """An importer may misbehave in any call."""
    file = folder / "some.bad"
    file.write_bytes(b"some")
    for mistake, code, wanted in (("throws in import", 4, "[P12] import threw: boom"), ("throws in reads", 4, "[P12] reads threw: boom"),
                                  ("user_error in import", 2, "import: boom"), ("segfaults in import", -signal.SIGSEGV, "[P12] import ended the process by"),
                                  ("hangs in import", 4, "[P22] import has not returned in 1 seconds"), ("allocates in import", 4, "[P22] import allocated "),
                                  ("broken_network", 4, "[P30] ")):
        os.environ["TUNESMITH_TEST_MISTAKE"] = mistake
        done = run("import", file, "--plugin-path", f"{BAD}/bad_importer.pack.json", "--plugin-memory", 0.25,
                   "--plugin-seconds", 1 if mistake.startswith("hangs") else 60, code=code)
        assert f"importer 'bad_importer': {wanted}" in done.stderr, (mistake, done.stderr)


parser = argparse.ArgumentParser()
parser.add_argument("--tunesmith", required=True)
parser.add_argument("--bad", help="the folder of the bad plugins")
parser.add_argument("test")
arguments = parser.parse_args()
TUNESMITH, BAD = arguments.tunesmith, arguments.bad
with tempfile.TemporaryDirectory() as temporary:
    os.environ["XDG_DATA_HOME"] = temporary
    os.environ["TUNESMITH_MACHINE_LOCK"] = f"{temporary}/machine.lock"  # waits for no other test
    globals()[arguments.test](pathlib.Path(temporary))
