#include "arrays.h"

#include <cstring>

#include <fmt/format.h>

#include <tunesmith/support/error.h>

namespace tunesmith::python {
namespace {

/// numpy represents bf16 by its bits, signed or unsigned.
bool same_type(DType wanted, DType given) { return wanted == given || (wanted == kBF16 && given == kU16); }

UserError wrong(const BufferNode& buffer, size_t position, const std::string& what, std::string remedy = {}) {
  return UserError(fmt::format("argument {}, '{}': {}", position + 1, buffer.name, what), std::move(remedy));
}

UserError wrong_type(const BufferNode& buffer, size_t position, const std::string& given, bool convertible) {
  return wrong(buffer, position,
               fmt::format("expected {}, not {}", type_text(buffer.dtype, buffer.shape), given),
               convertible ? "arguments are not converted: convert it once, outside the calling loop" : "");
}

UserError not_contiguous(const BufferNode& buffer, size_t position) {
  return wrong(buffer, position, "its elements are not contiguous in row-major order",
               "copy it once: numpy.ascontiguousarray(x), or x.contiguous() of torch");
}

/// Parses a format of Python's module struct; nothing for unsupported types.
std::optional<DType> type_of_format(const char* format, Py_ssize_t bytes) {
  if (format == nullptr) return kU8;
  if (std::strchr("@=<", *format) != nullptr && *format != '\0') ++format;
  if (std::strlen(format) != 1) return std::nullopt;
  const auto bits = static_cast<uint8_t>(8 * bytes);
  switch (*format) {
    case '?':
      return kBool;
    case 'e':
    case 'f':
    case 'd':
      return DType{TypeCode::Float, bits};
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return DType{TypeCode::Int, bits};
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return DType{TypeCode::UInt, bits};
    default:
      return std::nullopt;
  }
}

std::optional<DType> type_of_dlpack(nb::dlpack::dtype type) {
  if (type.lanes != 1) return std::nullopt;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int:
      return DType{TypeCode::Int, type.bits};
    case nb::dlpack::dtype_code::UInt:
      return DType{TypeCode::UInt, type.bits};
    case nb::dlpack::dtype_code::Float:
      return DType{TypeCode::Float, type.bits};
    case nb::dlpack::dtype_code::Bfloat:
      return DType{TypeCode::BFloat, type.bits};
    case nb::dlpack::dtype_code::Bool:
      return kBool;
    default:
      return std::nullopt;
  }
}

std::string name_of_type(nb::handle array) {
  return nb::cast<std::string>(nb::str(nb::handle(array.type())));
}

/// The storage of a torch tensor can be freed or shrink while the tensor lives.
bool has_memory(nb::handle array, const BufferNode& buffer, const void* data) {
  if (data == nullptr) return false;
  if (!nb::hasattr(array, "untyped_storage")) return true;
  const auto number = [](const nb::object& value) { return nb::cast<int64_t>(value); };
  const int64_t begin = number(array.attr("storage_offset")()) * number(array.attr("element_size")());
  return begin + buffer.bytes() <= number(array.attr("untyped_storage")().attr("nbytes")());
}

}  // namespace

std::string type_text(DType type, const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", extent);
  return fmt::format("{}[{}]", type.str(), text);
}

ArrayView::ArrayView(nb::handle array, const BufferNode& buffer, size_t position, bool write) {
  if (PyObject_CheckBuffer(array.ptr()) != 0 &&
      PyObject_GetBuffer(array.ptr(), &view_, write ? PyBUF_RECORDS : PyBUF_RECORDS_RO) == 0) {
    try {
      take_buffer(buffer, position);
    } catch (...) {
      PyBuffer_Release(&view_);
      throw;
    }
    return;
  }
  PyErr_Clear();
  take_dlpack(array, buffer, position, write);
}

ArrayView::~ArrayView() {
  if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

void ArrayView::take_buffer(const BufferNode& buffer, size_t position) {
  const std::optional<DType> type = type_of_format(view_.format, view_.itemsize);
  const auto rank = static_cast<size_t>(view_.ndim);
  bool fits = type && same_type(buffer.dtype, *type) && rank == buffer.shape.size();
  for (size_t i = 0; fits && i < rank; ++i) fits = view_.shape[i] == buffer.shape[i];
  if (!fits) {
    const std::vector<int64_t> shape(view_.shape, view_.shape + rank);
    const std::string given =
        type ? type_text(*type, shape) : fmt::format("elements of the format '{}'", view_.format);
    throw wrong_type(buffer, position, given, type && shape == buffer.shape);
  }
  Py_ssize_t stride = view_.itemsize;
  for (size_t i = rank; i-- > 0;) {
    if (view_.shape[i] != 1 && view_.strides[i] != stride) throw not_contiguous(buffer, position);
    stride *= view_.shape[i];
  }
  data_ = view_.buf;
}

void ArrayView::take_dlpack(nb::handle array, const BufferNode& buffer, size_t position, bool write) {
  nb::ndarray<nb::ro> tensor;
  const std::string kind = name_of_type(array);
  if (!nb::hasattr(array, "__dlpack__")) throw wrong_type(buffer, position, kind, false);
  if (nb::hasattr(array, "requires_grad") && nb::cast<bool>(nb::bool_(array.attr("requires_grad"))))
    throw wrong(buffer, position, "a tensor that requires gradients",
                "kernels compute no gradients: pass x.detach()");
  if (write) {
    nb::ndarray<> writable;
    if (!nb::try_cast(array, writable))
      throw wrong(buffer, position, "its memory is read-only, but it is an output");
    tensor = nb::ndarray<nb::ro>(writable);
  } else if (!nb::try_cast(array, tensor)) {
    throw wrong_type(buffer, position, kind, false);
  }
  if (tensor.device_type() != nb::device::cpu::value)
    throw wrong(buffer, position, "its memory is on another device", "copy it to CPU memory");
  const std::optional<DType> type = type_of_dlpack(tensor.dtype());
  std::vector<int64_t> shape;
  for (size_t i = 0; i < tensor.ndim(); ++i) shape.push_back(static_cast<int64_t>(tensor.shape(i)));
  if (!type || !same_type(buffer.dtype, *type) || shape != buffer.shape)
    throw wrong_type(buffer, position, type ? type_text(*type, shape) : kind, type && shape == buffer.shape);
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && tensor.stride(i) != stride) throw not_contiguous(buffer, position);
    stride *= shape[i];
  }
  data_ = const_cast<void*>(tensor.data());
  if (!has_memory(array, buffer, data_))
    throw wrong(buffer, position, "its storage was freed or is too short");
  tensor_ = std::move(tensor);
}

nb::object array_maker(const BufferNode& buffer) {
  nb::list shape;
  for (const int64_t extent : buffer.shape) shape.append(extent);
  return nb::module_::import_("tunesmith._arrays")
      .attr("maker")(buffer.dtype.str().c_str(), nb::tuple(shape));
}

}  // namespace tunesmith::python
