"""Small ONNX files, written without the package."""
import struct


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    """A field of protobuf: a number, or bytes, a text or a message with a length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor_value(name, *dims):
    """ValueInfoProto of f32."""
    shape = b"".join(field(1, field(1, dim) if isinstance(dim, int) else field(2, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def node(op, inputs, outputs, name="", domain=""):
    parts = [field(1, each) for each in inputs] + [field(2, each) for each in outputs] + [field(3, name), field(4, op), field(7, domain)]
    return b"".join(parts)


def model(nodes, inputs, outputs, weights=()):
    graph = b"".join(field(1, each) for each in nodes) + field(2, "small")
    for name, values, *shape in weights:
        dims = b"".join(field(1, extent) for extent in shape or [len(values)])
        graph += field(5, dims + field(2, 1) + field(8, name) + field(9, struct.pack(f"<{len(values)}f", *values)))
    graph += b"".join(field(11, each) for each in inputs) + b"".join(field(12, each) for each in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)) + field(8, field(1, "nobody") + field(2, 3))
