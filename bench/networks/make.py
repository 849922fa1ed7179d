#!/usr/bin/env python3
"""Makes networks with random weights as ONNX files, by PyTorch: bench/peers/run install puts it into build/peers.

  build/peers/bin/python bench/networks/make.py --output build/networks            all
  build/peers/bin/python bench/networks/make.py resnet50 --output build/networks
"""
import argparse
import pathlib

import torch
from torch import nn


def conv(inputs, outputs, kernel, stride=1, groups=1, activation=nn.ReLU):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation()] if activation else []))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.layers = nn.Sequential(conv(inputs, width, 1), conv(width, width, 3, stride), conv(width, outputs, 1, activation=None))
        self.shortcut = nn.Identity() if inputs == outputs and stride == 1 else conv(inputs, outputs, 1, stride, activation=None)

    def forward(self, x):
        return torch.relu(self.layers(x) + self.shortcut(x))


def resnet50():
    layers, channels = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, stride if block == 0 else 1))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = expansion * inputs
        self.adds = stride == 1 and inputs == outputs
        expand = [conv(inputs, hidden, 1, activation=nn.ReLU6)] if expansion > 1 else []
        self.layers = nn.Sequential(*expand, conv(hidden, hidden, 3, stride, hidden, nn.ReLU6), conv(hidden, outputs, 1, activation=None))

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


def mobilenet_v2():
    layers, channels = [conv(3, 32, 3, 2, activation=nn.ReLU6)], 32
    for expansion, outputs, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for block in range(blocks):
            layers.append(InvertedResidual(channels, outputs, stride if block == 0 else 1, expansion))
            channels = outputs
    return nn.Sequential(*layers, conv(channels, 1280, 1, activation=nn.ReLU6), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


NETWORKS = {"resnet50": (resnet50, (1, 3, 224, 224)), "mobilenet_v2": (mobilenet_v2, (1, 3, 224, 224))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)}; all without any")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="the folder that receives NETWORK.onnx")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in arguments.networks or NETWORKS:
        if name not in NETWORKS:
            parser.error(f"there is no network '{name}'; there are {', '.join(NETWORKS)}")
        make, shape = NETWORKS[name]
        torch.manual_seed(arguments.seed)
        network = make().eval()
        arguments.output.mkdir(parents=True, exist_ok=True)
        file = arguments.output / f"{name}.onnx"
        torch.onnx.export(network, (torch.randn(shape),), str(file), input_names=["x"], output_names=["y"], dynamo=False, opset_version=17)
        print(f"{file}: {file.stat().st_size} bytes")


if __name__ == "__main__":
    main()
