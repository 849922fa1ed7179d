// Type annotations of arguments that accept several forms, and
// of our lists. The names are those of tunesmith/_types.py.
#pragma once

#include <nanobind/nanobind.h>

namespace tunesmith::python {

namespace nb = nanobind;

/// Wrong types are refused later, with a message of our own and the nearest name.
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

/// A Kernel, a class defined in kernel.cpp.
struct KernelObject : nb::object {
  NB_OBJECT_DEFAULT(KernelObject, nb::object, "Kernel", is_anything)
};

template <typename T>
using ListOf = nb::typed<nb::list, T>;
template <typename T>
using DictOf = nb::typed<nb::dict, nb::str, T>;
template <typename T>
using IteratorOf = nb::typed<nb::iterator, T>;
/// Converts by length and items.
template <typename T>
IteratorOf<T> iterator_of(nb::handle sequence) {
  return IteratorOf<T>(nb::steal<nb::iterator>(PySeqIter_New(sequence.ptr())));
}
/// The result of __reduce__.
using Reduced = nb::typed<nb::tuple, nb::object, nb::ellipsis>;

}  // namespace tunesmith::python
