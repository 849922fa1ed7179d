// Asynchronous stores, as cp.async.
#pragma once

#include <optional>
#include <string>

#include "text/expr_text.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// The store as one asynchronous copy, or nothing if it cannot be one: it
/// must copy elements from global memory with one read and one write access
/// of a size that the scope supports (MemoryScope::async_copy_bytes).
/// Elements that a mask or select excludes are filled with zeros.
std::optional<std::string> async_copy_text(const Store& store, const ExecutionModel& execution,
                                           ExprText& exprs);

}  // namespace tunesmith::cuda
