// Any bytes are a model, from which a sound network comes, or are refused.
#include <cstddef>
#include <cstdint>

#include <tunesmith/network/network.h>

#include "read_onnx.h"
#include "read_or_refuse.h"

using namespace tunesmith;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  onnx_reader::looks_like_onnx("model", bytes);
  test::read_or_refuse([&] {
    const network::Network network = onnx_reader::read_onnx(bytes, "/nonexistent");
    network::check_invariants(network);
    network::to_text(network);
  });
  return 0;
}
