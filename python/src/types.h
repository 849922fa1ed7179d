// What type checkers are told of arguments that are taken in several forms, and of lists of ours. The names
// are those of tunesmith/_types.py.
#pragma once

#include <nanobind/nanobind.h>

namespace tunesmith::python {

namespace nb = nanobind;

/// What does not fit is refused in words of our own, with the nearest name.
inline bool is_anything(PyObject* /*object*/) { return true; }

struct WorkloadLike : nb::object {
  NB_OBJECT_DEFAULT(WorkloadLike, nb::object, "WorkloadLike", is_anything)
};
struct SpaceLike : nb::object {
  NB_OBJECT_DEFAULT(SpaceLike, nb::object, "SpaceLike", is_anything)
};
struct BlockLike : nb::object {
  NB_OBJECT_DEFAULT(BlockLike, nb::object, "BlockLike", is_anything)
};
struct PathLike : nb::object {
  NB_OBJECT_DEFAULT(PathLike, nb::object, "PathLike", is_anything)
};

/// A Kernel, whose class is kernel.cpp's own.
struct KernelObject : nb::object {
  NB_OBJECT_DEFAULT(KernelObject, nb::object, "Kernel", is_anything)
};

template <typename T>
using ListOf = nb::typed<nb::list, T>;
template <typename T>
using DictOf = nb::typed<nb::dict, nb::str, T>;
template <typename T>
using IteratorOf = nb::typed<nb::iterator, T>;
/// By its length and its items.
template <typename T>
IteratorOf<T> iterator_of(nb::handle sequence) {
  return IteratorOf<T>(nb::steal<nb::iterator>(PySeqIter_New(sequence.ptr())));
}
/// What __reduce__ answers.
using Reduced = nb::typed<nb::tuple, nb::object, nb::ellipsis>;

}  // namespace tunesmith::python
