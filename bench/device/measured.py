"""Times launches in CUDA graphs, without the host's part: a library that Tunesmith built, PyTorch's counterpart, and a copy of as many bytes."""
import ctypes
import statistics

import torch
import torch.nn.functional as functional

SAMPLES = 15
GRAPH_SECONDS = 2e-3  # about as long as the calls of one graph take


def graph_of(call, count):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(count):
                call()
    torch.cuda.synchronize()
    return graph


def seconds_of(graph, count):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e-3 / count


def in_turn(calls):
    """The median of each call's samples, taken in turn."""
    graphs = {}
    for name, call in calls.items():
        once = graph_of(call, 1)
        seconds_of(once, 1)
        count = max(1, min(200, round(GRAPH_SECONDS / max(seconds_of(once, 1), 1e-6))))
        graphs[name] = (graph_of(call, count), count)
    samples = {name: [] for name in calls}
    for turn in range(SAMPLES + 2):
        for name, (graph, count) in graphs.items():
            seconds = seconds_of(graph, count)
            if turn >= 2:
                samples[name].append(seconds)
    return {name: statistics.median(values) for name, values in samples.items()}


def operands(case):
    """The operator, its operands in the order of the workload's inputs, and the output's shape and type."""
    kind = torch.float16 if case.half else torch.float32
    rows = torch.randn(*case.shape, device="cuda", dtype=kind)
    columns = case.shape[-1]
    scale, offset = (torch.randn(columns, device="cuda", dtype=kind) for _ in range(2))
    other = torch.randn(*case.shape, device="cuda", dtype=kind)
    name = case.torch
    if name == "softmax":
        return lambda x: torch.softmax(x, -1), [rows], case.shape, kind
    if name == "layer_norm":
        return lambda x, s, o: functional.layer_norm(x, (columns,), s, o), [rows, scale, offset], case.shape, kind
    if name == "rms_norm":
        return lambda x, s: functional.rms_norm(x, (columns,), s, 1e-5), [rows, scale], case.shape, kind
    if name == "sums":
        return lambda x: x.sum(-1, dtype=torch.float32), [rows], case.shape[:1], torch.float32
    if name == "total":
        return lambda x: x.sum().reshape(1), [rows], [1], torch.float32
    if name == "chain":
        def chain(x, y, z):
            u = torch.tanh(x + y) * z - x
            return torch.sqrt(torch.abs(torch.where(u < 0, 0.1 * u, u)) + 1)
        return chain, [rows, other, scale], case.shape, kind
    if name == "add":
        return lambda x, y, b: torch.relu(x + y + b), [rows, other, scale], case.shape, kind
    return torch.relu, [rows], case.shape, kind


def time_case(case, folder, compiles):
    call, inputs, shape, kind = operands(case)
    ours_out = torch.full(tuple(shape), float("nan"), device="cuda", dtype=kind)
    workspace = torch.empty(max(case.workspace, 1), device="cuda", dtype=torch.uint8)
    function = getattr(ctypes.CDLL(str(folder / f"{case.symbol}.so")), case.symbol)
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in [*inputs, ours_out, workspace]]

    def ours():
        answer = function(*pointers, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if answer != 0:
            raise RuntimeError(f"the launch answers {answer}")

    ours()
    torch.cuda.synchronize()
    expected = call(*[tensor.double() for tensor in inputs])
    difference = (ours_out.double() - expected).norm() / expected.norm()
    case.result["difference"] = float(difference)
    assert float(difference) < (2e-3 if kind == torch.float16 else 1e-4), f"differs from PyTorch in f64 by {float(difference)}"
    half = case.bytes() // 2
    source = torch.randint(0, 255, (half,), device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    calls = {"ours": ours, "eager": lambda: call(*inputs), "copy": lambda: target.copy_(source)}
    if compiles:
        compiled = torch.compile(call, dynamic=False)
        compiled(*inputs)
        compiled(*inputs)
        calls["compiled"] = lambda: compiled(*inputs)
    case.result.update(in_turn(calls))
    case.result["copy_rate"] = 2 * half / case.result["copy"]
