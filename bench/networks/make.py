#!/usr/bin/env python3
"""Makes networks with random weights as ONNX files, by PyTorch: bench/peers/run install puts it into build/peers.

  build/peers/bin/python bench/networks/make.py --output build/networks            all
  build/peers/bin/python bench/networks/make.py resnet50 --output build/networks

Writes NETWORK.onnx (with large weights in NETWORK.onnx.data) and NETWORK.npz, which holds inputs and the results that PyTorch computes in f64.
"""
import argparse
import pathlib
import sys

import numpy
import torch
from torch import nn

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from models import dense_prediction, language, mobile, residual, vision_transformer  # noqa: E402

NETWORKS = {}
for family in (residual, mobile, language, vision_transformer, dense_prediction):
    NETWORKS.update(family.NETWORKS)


def randomise_norms(module):
    """Norms of a trained network change their inputs; a new batch norm does nothing."""
    for part in module.modules():
        if isinstance(part, (nn.BatchNorm2d, nn.LayerNorm)):
            nn.init.uniform_(part.weight, 0.8, 1.2)
            nn.init.normal_(part.bias, 0.0, 0.1)
        if isinstance(part, nn.BatchNorm2d):
            nn.init.normal_(part.running_mean, 0.0, 0.1)
            nn.init.uniform_(part.running_var, 0.8, 1.2)


DEFAULT_SEED = 0


def network(name, seed):
    """The same seed gives the same weights."""
    torch.manual_seed(seed)
    made = NETWORKS[name].make().eval()
    randomise_norms(made)
    return made


def export(name, folder, seed):
    described, made = NETWORKS[name], network(name, seed)
    inputs = described.example()
    file = folder / f"{name}.onnx"
    options = {"dynamo": False, "opset_version": 17} if described.older_exporter else {"dynamo": True, "external_data": True, "verbose": False}
    torch.onnx.export(made, inputs, str(file), input_names=list(described.inputs), **options)
    with torch.no_grad():
        results = made.double()(*(x if x.dtype == torch.int64 else x.double() for x in inputs))
    results = results if isinstance(results, tuple) else (results,)
    arrays = {f"input{i}": x.numpy() for i, x in enumerate(inputs)} | {f"output{i}": y.numpy() for i, y in enumerate(results)}
    numpy.savez(folder / f"{name}.npz", **arrays)
    return sum(path.stat().st_size for path in folder.glob(f"{name}.onnx*"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)}; all without any")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the folder that receives NETWORK.onnx")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED)
    arguments = parser.parse_args()
    unknown = [name for name in arguments.networks if name not in NETWORKS]
    if unknown:
        parser.error(f"there is no network '{unknown[0]}'; there are {', '.join(NETWORKS)}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.networks or NETWORKS:
        print(f"{arguments.output / name}.onnx: {export(name, arguments.output, arguments.seed) / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()
