#include "library_examples.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/runtime/c_texts.h>
#include <tunesmith/support/files.h>

namespace tunesmith::cli {
namespace {

constexpr const char* kC = R"(/* Calls lib@NAME@.so:

     cc -O2 @NAME@_example.c -o @NAME@_example -L. -l@NAME@ -Wl,-rpath,'$ORIGIN' && ./@NAME@_example
*/
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "@NAME@.h"

/* Of so many elements of so many bytes, aligned to a cache line. */
static void* memory(size_t elements, size_t bytes) {
  return aligned_alloc(64, (elements * bytes + 63) / 64 * 64);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void) {
@BUFFERS@  void* buffers[] = {@NAMES@};
@PREPARE@  if (@NAME@_raw(buffers) != @NAME@_OK) return 1;
  double sum = 0;
  for (long i = 0; i < @ELEMENTS@; ++i) sum += (double)@OUTPUT@[i];
  printf("checksum of @OUTPUT@: %.9g\n", sum);

  enum { kCalls = 20 };
  const double began = now();
  for (int i = 0; i < kCalls; ++i) @NAME@_raw(buffers);
  printf("%.3g us a call\n", 1e6 * (now() - began) / kCalls);
  return 0;
}
)";

constexpr const char* kPython =
    R"("""Calls lib@NAME@.so from Python, which needs no package for it: python3 @NAME@_example.py"""
import ctypes
import pathlib
import time

library = ctypes.CDLL(str(pathlib.Path(__file__).parent / "lib@NAME@.so"))
library.@NAME@_raw.argtypes = [ctypes.POINTER(ctypes.c_void_p)]

# With numpy: A.ctypes.data in the place of ctypes.addressof(A).
@BUFFERS@buffers = (ctypes.c_void_p * @COUNT@)(@ADDRESSES@)
@PREPARE@assert library.@NAME@_raw(buffers) == 0
print(f"checksum of @OUTPUT@: {float(sum(@OUTPUT@)):.9g}")

CALLS = 20
began = time.perf_counter()
for _ in range(CALLS):
    library.@NAME@_raw(buffers)
print(f"{1e6 * (time.perf_counter() - began) / CALLS:.3g} us a call")
)";

constexpr const char* kPrepareC =
    R"(  void* prepared = memory(@NAME@_prepared_bytes(), 1);  /* of the constant inputs, once */
  buffers[sizeof buffers / sizeof *buffers - 1] = prepared;
  if (@NAME@_prepare_raw(buffers) != @NAME@_OK) return 1;
)";

constexpr const char* kPreparePython = R"(library.@NAME@_prepared_bytes.restype = ctypes.c_size_t
size = library.@NAME@_prepared_bytes()
room = (ctypes.c_char * (size + 64))()
buffers[@LAST@] = (ctypes.addressof(room) + 63) // 64 * 64  # what is prepared of the constant inputs, once
assert library.@NAME@_prepare_raw(buffers) == 0
)";

/// The C and the ctypes type: "float", "c_float". 16-bit floats are represented by their bits.
struct CTypes {
  std::string c;
  std::string python;
};

CTypes types_of(DType type) {
  if (type.is_bool()) return {"uint8_t", "c_uint8"};
  if (type == kF64) return {"double", "c_double"};
  if (type == kF32) return {"float", "c_float"};
  const bool bits = type.is_float() || type.is_unsigned_int();
  const std::string width = std::to_string(type.bits);
  return {fmt::format("{}int{}_t", bits ? "u" : "", width), fmt::format("c_{}int{}", bits ? "u" : "", width)};
}

/// The expression for element `i`, valid in C and Python: small numbers that all types have; 1.0 where a type
/// is represented by its bits.
std::string element_of(DType type) {
  if (type.is_bool()) return "i % 2";
  if (type == kF16) return "0x3c00";
  if (type == kBF16) return "0x3f80";
  return "i % 7";
}

struct Array {
  std::string name;
  DType dtype;
  int64_t elements = 0;
  bool output = false;
};

std::vector<Array> arrays_of(const Program& program) {
  std::vector<Array> arrays;
  const auto add = [&](const Buffer& buffer, bool output) {
    // A prefix makes any name valid in C and Python.
    arrays.push_back({fmt::format("{}_{}", output ? "out" : "in", arrays.size()), buffer->dtype,
                      buffer->elements(), output});
  };
  for (const Buffer& input : program.inputs) add(input, false);
  for (const Buffer& output : program.outputs) add(output, true);
  return arrays;
}

std::string buffers_in_c(const std::vector<Array>& arrays) {
  std::string text;
  for (const Array& array : arrays) {
    text += fmt::format("  {0}* {1} = memory({2}, sizeof *{1});\n", types_of(array.dtype).c, array.name,
                        array.elements);
    if (!array.output)
      text += fmt::format("  for (long i = 0; i < {}; ++i) {}[i] = ({})({});\n", array.elements, array.name,
                          types_of(array.dtype).c, element_of(array.dtype));
  }
  return text;
}

std::string buffers_in_python(const std::vector<Array>& arrays) {
  std::string text;
  for (const Array& array : arrays) {
    text += array.output ? fmt::format("{} = (ctypes.{} * {})()\n", array.name, types_of(array.dtype).python,
                                       array.elements)
                         : fmt::format("{0} = (ctypes.{1} * {2})(*({3} for i in range({2})))\n", array.name,
                                       types_of(array.dtype).python, array.elements, element_of(array.dtype));
  }
  return text;
}

std::string filled(std::string text, const std::vector<Array>& arrays, const std::string& name, bool prepares,
                   bool python) {
  std::vector<std::string> names;
  std::vector<std::string> addresses;
  const Array& output = *std::ranges::find(arrays, true, &Array::output);
  for (const Array& array : arrays) {
    names.push_back(array.name);
    addresses.push_back("ctypes.addressof(" + array.name + ")");
  }
  if (prepares) {
    names.emplace_back("NULL");
    addresses.emplace_back("None");
  }
  const auto replace = [&](const char* mark, const std::string& by) {
    text = replace_all(std::move(text), mark, by);
  };
  replace("@BUFFERS@", python ? buffers_in_python(arrays) : buffers_in_c(arrays));
  replace("@PREPARE@", !prepares ? "" : python ? kPreparePython : kPrepareC);
  replace("@NAMES@", fmt::format("{}", fmt::join(names, ", ")));
  replace("@ADDRESSES@", fmt::format("{}", fmt::join(addresses, ", ")));
  replace("@COUNT@", std::to_string(names.size()));
  replace("@LAST@", std::to_string(names.size() - 1));
  replace("@OUTPUT@", output.name);
  replace("@ELEMENTS@", std::to_string(output.elements));
  replace("@NAME@", name);
  return text;
}

}  // namespace

std::vector<std::string> write_examples(const Program& program, const std::string& name, bool prepares,
                                        const std::filesystem::path& folder) {
  const std::vector<Array> arrays = arrays_of(program);
  std::vector<std::string> paths;
  for (const auto& [suffix, text, python] : {std::tuple{"c", kC, false}, std::tuple{"py", kPython, true}}) {
    const std::filesystem::path path = folder / fmt::format("{}_example.{}", name, suffix);
    write_whole_file(path, filled(text, arrays, name, prepares, python));
    paths.push_back(path.string());
  }
  return paths;
}

}  // namespace tunesmith::cli
