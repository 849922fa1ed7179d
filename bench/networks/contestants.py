"""The contestants: each makes a function that runs a network once per call and returns the results as numpy arrays."""
import ctypes
import os

import numpy


def tunesmith(folder, name, inputs, threads):
    """A library that `tunesmith network build` wrote, by its DLPack interface; it uses a thread for each processor of the process."""
    class Tensor(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                    ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                    ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]

    def described(array):
        code = {"i": 0, "u": 1, "f": 2, "b": 6}[array.dtype.kind]
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        return Tensor(array.ctypes.data, 1, 0, array.ndim, code, array.itemsize * 8, 1, shape, None, 0)

    def pointers(arrays):
        tensors = [described(array) for array in arrays]
        return tensors, (ctypes.POINTER(Tensor) * len(tensors))(*map(ctypes.pointer, tensors))

    library = ctypes.CDLL(str(folder / f"lib{name}.so"))
    model = ctypes.c_void_p()
    check(getattr(library, f"{name}_open")(str(folder / f"{name}.weights").encode(), ctypes.byref(model)))
    outputs = [numpy.zeros(shape, dtype) for shape, dtype in outputs_of((folder / f"{name}.h").read_text())]
    kept = pointers(inputs), pointers(outputs)
    run = getattr(library, f"{name}_run")

    def call():
        check(run(model, kept[0][1], kept[1][1], None))
        return outputs
    return call


def check(code):
    if code != 0:
        raise RuntimeError(f"the library answers {code}")


def outputs_of(header):
    """Shapes and types of the results, from the comment in the library's header."""
    types = {"f32": numpy.float32, "f64": numpy.float64, "i32": numpy.int32, "i64": numpy.int64}
    found = []
    for line in header.splitlines():
        words = line.split()
        if words[:1] == ["output"]:
            found.append(([int(extent) for extent in line[line.index("[") + 1:line.rindex("]")].split(",") if extent.strip()], types[words[3]]))
    return found


def onnxruntime(folder, name, inputs, threads):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    session = ort.InferenceSession(str(folder / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])
    given = {one.name: array for one, array in zip(session.get_inputs(), inputs)}
    return lambda: session.run(None, given)


def torch_compiled(folder, name, inputs, threads):
    """Weights are frozen, and images have their channels last."""
    import torch
    import torch._inductor.config as inductor

    import make
    torch.set_num_threads(threads)
    inductor.freezing = True
    network = make.network(name, make.DEFAULT_SEED)
    tensors = [torch.from_numpy(array) for array in inputs]
    if tensors[0].dim() == 4:
        for weight in network.parameters():  # Module.to would refuse those of five axes
            if weight.dim() == 4:
                weight.data = weight.data.contiguous(memory_format=torch.channels_last)
        tensors = [tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor for tensor in tensors]
    compiled = torch.compile(network, dynamic=False)

    def call():
        with torch.no_grad():
            results = compiled(*tensors)
        return [result.numpy() for result in (results if isinstance(results, tuple) else (results,))]
    return call


def tvm(folder, name, inputs, threads):
    """A library that tvm_network.py wrote; the weights are re-laid before the first call."""
    os.environ["TVM_NUM_THREADS"] = str(threads)
    import tvm
    from tvm import relax
    machine = relax.VirtualMachine(tvm.runtime.load_module(str(folder / name / "library.so")), tvm.cpu())
    stored = numpy.load(folder / name / "weights.npz")
    weights = machine["main_transform_params"]([tvm.runtime.tensor(stored[f"arr_{i}"]) for i in range(len(stored))])
    given = [tvm.runtime.tensor(array) for array in inputs]

    def call():
        results = machine["main"](*given, *weights)
        return [result.numpy() for result in (results if isinstance(results, (list, tuple, tvm.ir.Array)) else [results])]
    return call


CONTESTANTS = {"tunesmith": tunesmith, "onnxruntime": onnxruntime, "torch": torch_compiled, "tvm": tvm}


def bind(threads):
    """Restricts the process to a processor for each thread."""
    processors = sorted(os.sched_getaffinity(0))
    if len(processors) < threads:
        raise RuntimeError(f"{threads} threads need as many processors; there are {len(processors)}")
    os.sched_setaffinity(0, processors[:threads])
