"""The calls to time: one without arguments for each peer that has the operation. Peers fold, pack and compile constant weights before
the timing."""
import copy
import io
import warnings

import numpy
import onnx
import onnxruntime
import torch


class Declined(Exception):
    """The peer has no such operation."""


def reference(case):
    """The result in double precision."""
    module = copy.deepcopy(case.module)
    for parameter in module.parameters():
        parameter.data = parameter.data.double()
    return case.result(module(*[x.double() for x in case.inputs]))


def eager(case, parameters, threads):
    if case.integer:
        raise Declined("no products of u8 with i8")
    module, inputs = case.module, case.inputs
    return lambda: module(*inputs)


def compiled(case, parameters, threads, mode=None):
    if case.integer:
        raise Declined("no products of u8 with i8")
    import torch._inductor.config as inductor
    inductor.freezing = True  # packs weights, and folds batch norm into them
    module, inputs = torch.compile(case.module, dynamic=False, fullgraph=True, mode=mode), case.inputs
    module(*inputs)
    return lambda: module(*inputs)


def autotuned(case, parameters, threads):
    return compiled(case, parameters, threads, "max-autotune-no-cudagraphs")


def exported(case):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(case.module, tuple(x.contiguous() for x in case.inputs), file, dynamo=False, opset_version=17,
                          input_names=[f"x{i}" for i in range(len(case.inputs))], output_names=["out"])
    return file.getvalue()


def integer_graph(case, p):
    """Made by hand, since the exporter has no products of integers."""
    x, (_, weight) = case.inputs[0], next(case.module.named_parameters())
    w = weight.detach().contiguous()
    how = {}
    if x.dim() == 2:
        operator, w = "MatMulInteger", w.t().contiguous()
    else:
        rank = x.dim() - 2
        operator = "ConvInteger"
        how = {"strides": [p["stride"]] * rank, "pads": [p["padding"]] * 2 * rank, "dilations": [p["dilation"]] * rank, "group": p["groups"]}
    node = onnx.helper.make_node(operator, ["x0", "w"], ["out"], **how)
    graph = onnx.helper.make_graph(
        [node], "integer", [onnx.helper.make_tensor_value_info("x0", onnx.TensorProto.UINT8, list(x.shape))],
        [onnx.helper.make_tensor_value_info("out", onnx.TensorProto.INT32, None)], [onnx.numpy_helper.from_array(w.numpy(), "w")])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def ort(case, parameters, threads):
    if case.inputs[0].dtype == torch.bfloat16:
        raise Declined("no products of bf16 on CPUs")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    model = integer_graph(case, parameters) if case.integer else exported(case)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(x.contiguous().numpy()) for x in case.inputs]
    for name, value in zip((one.name for one in session.get_inputs()), values):
        binding.bind_ortvalue_input(name, value)
    binding.bind_output("out", "cpu")
    session.run_with_iobinding(binding)
    out = binding.get_outputs()[0].numpy()
    shared = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.empty_like(out))
    binding.bind_ortvalue_output("out", shared)

    def call():
        session.run_with_iobinding(binding)
        return shared
    return call


def tensor(out):
    """A contestant's result as a tensor."""
    if isinstance(out, onnxruntime.OrtValue):
        return torch.from_numpy(out.numpy().copy())
    return out


def copying(bytes_read_and_written):
    """Copies memory with all threads: half of the bytes are read, half are written."""
    count = max(1, bytes_read_and_written // 8)
    source, target = torch.rand(count), torch.empty(count)
    return lambda: target.copy_(source)


PEERS = {"torch": eager, "compiled": compiled, "autotuned": autotuned, "onnxruntime": ort}


def of_peer(name, case, parameters, threads):
    if name in PEERS:
        return PEERS[name](case, parameters, threads)
    if name not in case.library:
        raise Declined("no single function for it")
    return case.library[name]()
