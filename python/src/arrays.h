// Python arrays as arguments of programs: numpy arrays and
// others with the buffer protocol or DLPack. Nothing is copied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <tunesmith/ir/buffer.h>

namespace tunesmith::python {

namespace nb = nanobind;

/// "f32[1024, 1024]".
std::string type_text(DType type, const std::vector<int64_t>& shape);

/// The memory of one array, held as long as this lives.
class ArrayView {
 public:
  /// Throws UserError unless the array fits `buffer`: element type, shape,
  /// row-major and contiguous; for outputs (`write`) writable memory. bf16
  /// is also accepted as the bits of a uint16. `position` counts from 0.
  ArrayView(nb::handle array, const BufferNode& buffer, size_t position, bool write);
  ~ArrayView();
  ArrayView(const ArrayView&) = delete;
  ArrayView& operator=(const ArrayView&) = delete;

  void* data() const { return data_; }

 private:
  void take_buffer(const BufferNode& buffer, size_t position);
  void take_dlpack(nb::handle array, const BufferNode& buffer, size_t position, bool write);

  Py_buffer view_{};
  std::optional<nb::ndarray<nb::ro>> tensor_;
  void* data_ = nullptr;
};

/// Makes uninitialised arrays of the buffer's type and shape: torch arrays if its argument
/// is a tensor, else numpy arrays. bf16 is a torch.bfloat16, in numpy the bits as uint16.
nb::object array_maker(const BufferNode& buffer);

}  // namespace tunesmith::python
