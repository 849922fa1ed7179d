#include "tunesmith/network/built_library.h"

#include <algorithm>
#include <exception>

#include <dlfcn.h>
#include <fmt/format.h>

#include "emit/check_plan.h"
#include "run/fill_with_nan.h"
#include "tunesmith/network/plan_memory.h"
#include "tunesmith/runtime/c_texts.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

constexpr int kOk = 0;

/// The struct of DLPack.
struct DLTensor {
  void* data;
  struct {
    int32_t type, id;
  } device;
  int32_t rank;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

DLTensor dl_tensor(LibraryArgument& argument, void* data) {
  const DType type = argument.type.dtype;
  return {data,
          {1, 0},
          static_cast<int32_t>(argument.type.shape.size()),
          {static_cast<uint8_t>(dlpack_code(type)), static_cast<uint8_t>(8 * type.bytes()), 1},
          argument.type.shape.data(),
          nullptr,
          0};
}

/// Passes steps to the observer. No exception may pass through the library's C code.
struct Watched {
  const StepObserver& observer;
  std::exception_ptr thrown;
};

void observe(void* context, int step, void* const* buffers) {
  auto& watched = *static_cast<Watched*>(context);
  if (watched.thrown) return;
  try {
    watched.observer(step, buffers);
  } catch (...) {
    watched.thrown = std::current_exception();
  }
}

}  // namespace

LibraryFacts facts_of(const LibraryPlan& plan) {
  LibraryFacts facts{plan.name, plan.inputs, plan.outputs, plan.varying, {}};
  for (const LibraryStep& step : plan.steps) {
    std::vector<size_t>& unread = facts.steps.emplace_back().unread;
    facts.steps.back().buffers = step.buffers.size();
    for (size_t i = 0; i < step.buffers.size(); ++i)
      if (!reads_buffer(*step.kernel, i)) unread.push_back(i);
  }
  return facts;
}

void BuiltLibrary::Close::operator()(void* handle) const { dlclose(handle); }

template <typename Function>
Function BuiltLibrary::function(const char* name) const {
  const std::string symbol = facts_.name + "_" + name;
  const auto found = reinterpret_cast<Function>(dlsym(handle_.get(), symbol.c_str()));
  if (found == nullptr) throw UserError(fmt::format("the library has no function {}", symbol));
  return found;
}

BuiltLibrary::BuiltLibrary(const std::filesystem::path& folder, LibraryFacts facts)
    : facts_(std::move(facts)) {
  const std::filesystem::path file = std::filesystem::absolute(folder / fmt::format("lib{}.so", facts_.name));
  handle_.reset(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!handle_) throw UserError(SourceLocation{file.string()}, dlerror());
  if (function<int (*)()>("steps")() != steps())
    throw UserError(SourceLocation{file.string()},
                    fmt::format("the library's steps differ from the {} it was built with", steps()));
  const std::filesystem::path weights = folder / (facts_.name + ".weights");
  const int failed = function<int (*)(const char*, void**)>("open")(weights.c_str(), &model_);
  if (failed != kOk)
    throw UserError(SourceLocation{weights.string()},
                    fmt::format("{}_open returned {} (see {}.h)", facts_.name, failed, facts_.name));
  if (function<int (*)(const void*)>("check_weights")(model_) != kOk) {
    function<void (*)(void*)>("close")(model_);
    throw UserError(SourceLocation{weights.string()}, "the weights are damaged: hash mismatch");
  }
  const size_t bytes = function<size_t (*)()>("workspace_bytes")();
  if (bytes > 0) workspace_ = std::make_unique<GuardedBuffer>(static_cast<int64_t>(bytes), kTensorAlignment);
}

BuiltLibrary::~BuiltLibrary() { function<void (*)(void*)>("close")(model_); }

std::string BuiltLibrary::step_name(int step) const {
  const char* const name = function<const char* (*)(int)>("step_name")(step);
  return name == nullptr ? "" : name;
}

bool BuiltLibrary::reads(int step, size_t buffer) const {
  const std::vector<size_t>& unread = facts_.steps.at(static_cast<size_t>(step)).unread;
  return std::ranges::find(unread, buffer) == unread.end();
}

void BuiltLibrary::run(std::span<void* const> data, const StepObserver& observer) {
  if (workspace_) fill_with_nan(*workspace_);
  call(data, workspace_ ? workspace_->data() : nullptr, observer);
}

void BuiltLibrary::run_plainly(std::span<void* const> data, const StepObserver& observer) {
  call(data, nullptr, observer);
}

void BuiltLibrary::set_extents(std::span<const int64_t> values) {
  facts_.inputs = at_values(std::move(facts_.inputs), values);
  facts_.outputs = at_values(std::move(facts_.outputs), values);
}

void BuiltLibrary::set_parallel_for(tunesmith_parallel_for parallel_for, void* pool) {
  function<void (*)(tunesmith_parallel_for, void*)>("set_parallel_for")(parallel_for, pool);
}

void BuiltLibrary::call(std::span<void* const> data, void* workspace, const StepObserver& observer) {
  const size_t inputs = facts_.inputs.size(), outputs = facts_.outputs.size();
  check_invariant(data.size() == inputs + outputs, "a call has memory for each input and output");
  std::vector<DLTensor> tensors;
  for (size_t i = 0; i < data.size(); ++i)
    tensors.push_back(dl_tensor(i < inputs ? facts_.inputs[i] : facts_.outputs[i - inputs], data[i]));
  std::vector<const DLTensor*> given;
  std::vector<DLTensor*> results;
  for (size_t i = 0; i < inputs; ++i) given.push_back(&tensors[i]);
  for (size_t i = 0; i < outputs; ++i) results.push_back(&tensors[inputs + i]);
  Watched watched{observer, nullptr};
  using Run = int (*)(const void*, const DLTensor* const*, DLTensor* const*, void*,
                      void (*)(void*, int, void* const*), void*);
  const int failed = function<Run>("run_observed")(model_, given.data(), results.data(), workspace,
                                                   observer ? observe : nullptr, &watched);
  if (watched.thrown) std::rethrow_exception(watched.thrown);
  if (failed != kOk)
    throw EnvironmentError(
        fmt::format("{}_run_observed returned {} (see {}.h)", facts_.name, failed, facts_.name));
}

}  // namespace tunesmith::network
