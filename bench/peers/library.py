"""A library that `tunesmith build` wrote, by its raw interface."""
import ctypes


class Library:
    def __init__(self, file, name, inputs, output):
        self._library = ctypes.CDLL(file)
        self._raw = getattr(self._library, f"{name}_raw")
        self.output = output
        pointers = [tensor.data_ptr() for tensor in [*inputs, output]]
        self._kept = [*inputs, output]
        prepare = getattr(self._library, f"{name}_prepare_raw", None)
        if prepare is not None:
            size = getattr(self._library, f"{name}_prepared_bytes")
            size.restype = ctypes.c_size_t
            memory = (ctypes.c_uint8 * (size() + 64))()
            self._kept.append(memory)
            pointers.append((ctypes.addressof(memory) + 63) // 64 * 64)
        self._buffers = (ctypes.c_void_p * len(pointers))(*pointers)
        if prepare is not None:
            self._check(prepare(self._buffers))
        self._check(self._raw(self._buffers))

    @staticmethod
    def _check(code):
        if code != 0:
            raise RuntimeError(f"the built library answers {code}")

    def call(self):
        """A call without checks; the constructor has made a checked one."""
        raw, buffers = self._raw, self._buffers

        def call():
            raw(buffers)
            return self.output  # the library's owner, and with it the prepared memory, lives as long as the call
        return call
