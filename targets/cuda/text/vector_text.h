// Stores of several lanes as CUDA C++: built-in vectors where an access is one instruction, else lane by
// lane.
#pragma once

#include <string>
#include <vector>

#include "text/expr_text.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// A built-in vector that holds elements as they lie in memory.
struct VectorType {
  std::string name;  // "float4", "uint4"
  int packed = 1;    // elements in one of its components

  VectorType(DType element, int lanes);
  /// Of the vector `vector`, the element in `lane` as storage_type(element).
  std::string element(DType type, const std::string& vector, int lane) const;
  /// Made of elements as they are stored.
  std::string made_of(DType type, const std::vector<std::string>& elements) const;
};

/// The lines of a store whose index has lanes.
std::vector<std::string> vector_store_text(const Store& store, const ExecutionModel& execution, Names& names,
                                           ExprText& exprs);

}  // namespace tunesmith::cuda
