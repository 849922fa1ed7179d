#!/usr/bin/env python3
"""ONNX's own tests of single nodes, as the onnx package of this Python has them.

Usage: onnx_cases.py --tunesmith PATH [--output FOLDER] [--interpret]

Writes them in the format of `tunesmith network test` and runs that; exits with 77 without onnx. Prints how many pass, which are refused for what operator or type,
and exits with 1 if one is wrong. --output keeps the folders.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.loader import load_model_tests
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def bytes_of(value, described):
    """Writes a tensor's file; does nothing for sequences, maps and optional values, whose models are refused."""
    if not described.type.HasField("tensor_type"):
        return None
    return (value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(value, described.name)).SerializeToString()


def write_case(case, folder):
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    for number, (inputs, outputs) in enumerate(case.data_sets):
        place = folder / f"test_data_set_{number}"
        place.mkdir()
        for kind, values, described in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for i, (value, one) in enumerate(zip(values, described)):
                content = bytes_of(value, one)
                if content is not None:
                    (place / f"{kind}_{i}.pb").write_bytes(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tunesmith", required=True)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--interpret", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.output or pathlib.Path(temporary)
        for case in load_model_tests(kind="node"):
            write_case(case, folder / case.name)
        done = subprocess.run([arguments.tunesmith, "network", "test", folder, "--json", *(["--interpret"] if arguments.interpret else [])], capture_output=True, text=True)
    said = json.loads(done.stdout)
    causes = collections.Counter(f"{test['operator']}: {test['cause']}" if test["operator"] else test["cause"] for test in said["tests"] if test["result"] == "refused")
    for cause, count in causes.most_common():
        print(f"{count:6}  {cause}")
    for test in said["tests"]:
        if test["result"] == "wrong":
            print(f"wrong: {pathlib.Path(test['folder']).name}: {test['message']}")
    print(f"onnx {onnx.__version__}: {len(said['tests'])} tests, {said['passed']} passed, {said['refused']} refused, {said['wrong']} wrong")
    return 1 if said["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
