"""A convolution with its norm and activation."""
from torch import nn


def conv(inputs, outputs, kernel, stride=1, groups=1, activation=nn.ReLU):
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outputs)]
    return nn.Sequential(*layers, *([activation()] if activation else []))
