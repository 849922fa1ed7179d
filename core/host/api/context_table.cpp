#include <memory>
#include <new>
#include <string>

#include "api/handles.h"

namespace tunesmith::api {
namespace {

tunesmith_error* quantity(const tunesmith_context* context, tunesmith_text name, double* value) noexcept {
  return guarded([&] {
    given(value, "context.quantity") = given(context, "context.quantity").context->device().get(view(name));
  });
}

uint32_t has_quantity(const tunesmith_context* context, tunesmith_text name) noexcept {
  return context != nullptr && context->context->device().find(view(name)).has_value() ? 1 : 0;
}

void describe_machine(const tunesmith_context& context) {
  // Left from an earlier attempt that ran out of memory.
  context.axes.clear();
  context.levels.clear();
  context.scopes.clear();
  const ExecutionModel& model = context.context->execution();
  for (const ExecutionLevel& level : model.levels) {
    std::vector<tunesmith_text>& axes = context.axes.emplace_back();
    for (const std::string& axis : level.axes) axes.push_back(text(axis));
    context.levels.push_back({text(level.name), axes.data(), level.most.data(), level.axes.size(),
                              level.max_together, level.group, level.synchronises ? 1U : 0U});
  }
  for (const MemoryScope& scope : model.scopes) {
    context.scopes.push_back({text(scope.name), text(scope.owner), scope.capacity, scope.alignment,
                              scope.banks, scope.bank_bytes, scope.async_copy_bytes.data(),
                              scope.async_copy_bytes.size()});
  }
  context.execution = std::make_unique<tunesmith_execution>(
      tunesmith_execution{sizeof(tunesmith_execution), span_of(context.levels), span_of(context.scopes)});
}

const tunesmith_execution* execution(const tunesmith_context* context) noexcept {
  if (context == nullptr) return nullptr;
  try {
    if (context->execution == nullptr) describe_machine(*context);
    return context->execution.get();
  } catch (const std::bad_alloc&) {  // the caller converts it to an error
    return nullptr;
  }
}

const tunesmith_program* original(const tunesmith_context* context) noexcept {
  return context == nullptr ? nullptr : &context->original;
}

uint32_t has_extension(const tunesmith_context* context, tunesmith_text name) noexcept {
  return context != nullptr && context->context->has_extension(view(name)) ? 1 : 0;
}

tunesmith_error* claim(tunesmith_context* context, tunesmith_text block, tunesmith_text why) noexcept {
  return guarded(
      [&] { given(context, "context.claim").context->claim(view(block), std::string(view(why))); });
}

}  // namespace

const tunesmith_context_table k_context_table = {
    sizeof(tunesmith_context_table), quantity, has_quantity, execution, original, has_extension, claim};

}  // namespace tunesmith::api
