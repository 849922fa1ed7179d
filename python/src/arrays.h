// Arrays of Python as arguments of programs: numpy's and whatever else has the buffer protocol or DLPack.
// Nothing is copied.
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
  /// Throws UserError where the array is not what `buffer` wants: its element type, its shape, row-major
  /// without gaps; of outputs (`write`) memory that may be written. bf16 is also taken as the bits of a
  /// uint16. `position` counts from 0.
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

/// Makes arrays of the buffer's type and shape, with unspecified contents: of torch where its argument is a
/// tensor, else of numpy. bf16 is a torch.bfloat16, in numpy the bits as uint16.
nb::object array_maker(const BufferNode& buffer);

}  // namespace tunesmith::python
