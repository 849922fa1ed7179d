#!/usr/bin/env python3
"""Times torch.compile with the backend tunesmith in turn with inductor and eager, for a two-layer MLP and a layer of BERT, on all processors.

    torch_compile.py --records r.db --minutes 4      # tunes tasks without records, then times

It needs the Python package and torch (CPU). Figures: bench/results/2026-11-26-python.md."""
import argparse
import pathlib
import statistics
import sys

import torch

import tunesmith as ts
from tunesmith.torch_backend import backend, tasks

sys.path += [str(pathlib.Path(__file__).parent / "peers"), str(pathlib.Path(__file__).parent.parent / "tests/python")]
from bert_layer import BertLayer  # noqa: E402
from timing import in_turn  # noqa: E402


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(768, 3072), torch.nn.Linear(3072, 768)

    def forward(self, x):
        return self.second(torch.nn.functional.gelu(self.first(x)))


def compiled(model, frozen, **options):
    import torch._inductor.config as inductor

    torch._dynamo.reset()
    inductor.freezing = frozen
    if options:
        return torch.compile(model, dynamic=False, backend=lambda graph, inputs: backend(graph, inputs, {**options, "freeze": frozen}))
    return torch.compile(model, dynamic=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", required=True)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--seconds", type=float, default=12.0)
    given = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(len(__import__("os").sched_getaffinity(0)))
    cases = [("mlp 128x768x3072", Mlp().eval(), torch.randn(128, 768)), ("BERT layer, 128 tokens", BertLayer(768, 12).eval(), torch.randn(1, 128, 768))]
    for frozen in (False, True):
        wanted = list(dict.fromkeys(task for _, model, x in cases for task in tasks(model, x, freeze=frozen)))
        ts.tune(wanted, minutes=given.minutes / 2, records=given.records)
        for name, model, x in cases:
            with torch.no_grad():
                calls = {"eager": model, "inductor": compiled(model, frozen)}
                calls["tunesmith"] = compiled(model, frozen, records=given.records)
                eager = model(x)
                for what, call in calls.items():
                    torch.testing.assert_close(call(x), eager, rtol=1e-3, atol=1e-4)
                samples = in_turn({what: (lambda call=call: call(x)) for what, call in calls.items()}, 1000, given.seconds)
            ratio = statistics.median(ours / theirs for ours, theirs in zip(samples["tunesmith"], samples["inductor"]))
            times = ", ".join(f"{what} {1e3 * sorted(each)[len(each) // 10]:.3f} ms" for what, each in samples.items())
            print(f"{name}{', weights frozen' if frozen else ''}: {times}; tunesmith takes {ratio:.2f} of inductor's time ({len(samples['eager'])} rounds)", flush=True)


if __name__ == "__main__":
    main()
