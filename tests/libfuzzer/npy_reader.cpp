// Any bytes are a tensor in NumPy's format, or are refused.
#include <cstddef>
#include <cstdint>
#include <string>

#include <tunesmith/support/error.h>
#include <tunesmith/verification/npy.h>

#include "read_or_refuse.h"
#include "scratch_file.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  test::read_or_refuse([&] {
    const Tensor tensor = read_npy(test::scratch_file(bytes));
    if (tensor.bytes.size() != static_cast<size_t>(tensor.elements() * tensor.dtype.bytes()))
      throw InternalError("a tensor of another size than its shape's");
  });
  return 0;
}
