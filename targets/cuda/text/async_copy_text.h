// Stores that arrive later, as cp.async.
#pragma once

#include <optional>
#include <string>

#include "text/expr_text.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// The store as one asynchronous copy; nothing where it is none: it must copy elements from global memory
/// that one access reads and one access writes, of as many bytes as the scope takes at once
/// (MemoryScope::async_copy_bytes). What is not loaded, because a mask or a select leaves it out, is filled
/// with zeros.
std::optional<std::string> async_copy_text(const Store& store, const ExecutionModel& execution,
                                           ExprText& exprs);

}  // namespace tunesmith::cuda
