// Vector stores as CUDA C++: built-in vectors where an
// access is one instruction, otherwise lane by lane.
#pragma once

#include <string>
#include <vector>

#include "text/expr_text.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// A built-in vector type for elements in memory.
struct VectorType {
  std::string name;  // "float4", "uint4"
  int packed = 1;    // elements per component

  VectorType(DType element, int lanes);
  /// The element in `lane` of `vector`, as storage_type(element).
  std::string element(DType type, const std::string& vector, int lane) const;
  /// A vector made from stored elements.
  std::string made_of(DType type, const std::vector<std::string>& elements) const;
};

/// The lines of a store with a vector index.
std::vector<std::string> vector_store_text(const Store& store, const ExecutionModel& execution, Names& names,
                                           ExprText& exprs);

}  // namespace tunesmith::cuda
