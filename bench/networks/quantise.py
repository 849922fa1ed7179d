#!/usr/bin/env python3
"""Quantises networks by onnxruntime: QuantizeLinear and DequantizeLinear around each node (QDQ), one scale for each channel of the weights.

  build/peers/bin/python bench/networks/quantise.py resnet50 --networks build/networks --output build/quantised

Reads NETWORK.onnx and NETWORK.npz, which make.py writes; ranges are those of a few random inputs beside the stored one. Writes NETWORK.onnx with the
inputs, and as results what onnxruntime gives without its optimisations: of these, a network that rounds otherwise is a step of its last scale away
(measure.py --max-error)."""
import argparse
import pathlib
import sys
import tempfile

import numpy
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

SAMPLES = 4


class Samples(CalibrationDataReader):
    """The stored inputs, and for those in floats others of the same shape."""

    def __init__(self, inputs):
        draw = numpy.random.default_rng(0)
        self.left = [inputs]
        for _ in range(SAMPLES - 1):
            self.left.append({name: draw.standard_normal(each.shape).astype(each.dtype) if each.dtype.kind == "f" else each
                              for name, each in inputs.items()})

    def get_next(self):
        return self.left.pop() if self.left else None


def results(file, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"]).run(None, inputs)


def quantise(name, arguments):
    file, to = arguments.networks / f"{name}.onnx", arguments.output / f"{name}.onnx"
    arrays = numpy.load(arguments.networks / f"{name}.npz")
    names = [given.name for given in onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"]).get_inputs()]
    inputs = {given: arrays[f"input{i}"] for i, given in enumerate(names)}
    with tempfile.TemporaryDirectory() as folder:
        prepared = pathlib.Path(folder) / "prepared.onnx"
        quant_pre_process(str(file), str(prepared), skip_symbolic_shape=True)
        quantize_static(str(prepared), str(to), Samples(inputs), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    numpy.savez(to.with_suffix(".npz"), **{f"input{i}": each for i, each in enumerate(inputs.values())},
                **{f"output{i}": each for i, each in enumerate(results(to, inputs))})
    return to.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NETWORK")
    parser.add_argument("--networks", type=pathlib.Path, required=True, help="the folder of NETWORK.onnx and NETWORK.npz")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.names:
        print(f"{arguments.output / name}.onnx: {quantise(name, arguments) / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
