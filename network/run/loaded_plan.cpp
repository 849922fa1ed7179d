#include "tunesmith/network/loaded_plan.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "emit/check_plan.h"
#include "run/fill_with_nan.h"
#include "tunesmith/network/plan_memory.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

void serial(void* /*pool*/, int64_t count, tunesmith_loop_body body, void* closure) {
  body(closure, 0, count);
}

}  // namespace

LoadedPlan::LoadedPlan(LibraryPlan plan, Target& target)
    : plan_(std::move(plan)),
      weights_(plan_.weight_bytes, kTensorAlignment),
      arena_(plan_.arena_bytes, kTensorAlignment) {
  check_plan(plan_);
  for (const LibraryStep& step : plan_.steps) {
    std::unique_ptr<LoadedKernel>& loaded = kernels_[step.kernel];
    if (!loaded) loaded = target.load(*step.kernel);
  }
  for (const WeightPiece& piece : plan_.weights) {
    if (!piece.bytes.empty()) std::memcpy(weights_.data() + piece.at, piece.bytes.data(), piece.bytes.size());
  }
  weights_.set_read_only(true);
  for (const VaryingExtent& extent : plan_.varying) extents_.push_back(extent.range.highest);
}

bool LoadedPlan::reads(int step, size_t buffer) const {
  return reads_buffer(*plan_.steps.at(static_cast<size_t>(step)).kernel, buffer);
}

std::byte* LoadedPlan::place_of(const BufferPlace& place, int64_t trip, std::span<void* const> data) const {
  const auto at = static_cast<size_t>(place.at);
  const int64_t begin = place.begin + place.advance * (trip % place.period);
  switch (place.kind) {
    case BufferPlace::Kind::Input:
      return static_cast<std::byte*>(data[at]) + begin;
    case BufferPlace::Kind::Output:
      return static_cast<std::byte*>(data[plan_.inputs.size() + at]) + begin;
    case BufferPlace::Kind::Arena:
      return arena_.data() + at + begin;
    case BufferPlace::Kind::Weights:
      break;
  }
  return weights_.data() + at + begin;
}

void LoadedPlan::run(std::span<void* const> data, const StepObserver& observer) {
  check_invariant(data.size() == plan_.inputs.size() + plan_.outputs.size(),
                  "a call has memory for each input and output");
  fill_with_nan(arena_);
  if (observer) observer(-1, nullptr);
  int64_t trip = 0;
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const LibraryStep& step = plan_.steps[i];
    LoadedKernel& kernel = *kernels_.at(step.kernel);
    std::vector<void*> buffers;
    for (const BufferPlace& place : step.buffers) buffers.push_back(place_of(place, trip, data));
    if (!plan_.varying.empty()) buffers.push_back(extents_.data());
    kernel.entry()(buffers.data(), arena_.data() + step.workspace, serial, nullptr);
    if (const auto fault = kernel.take_fault())
      throw EnvironmentError(fmt::format("step {} ({}): {}", i, step.name, fault->message));
    if (observer) observer(static_cast<int>(i), buffers.data());
    if (step.trips == 1) continue;
    if (++trip < step.trips)
      i = step.back_to - 1;
    else
      trip = 0;
  }
}

}  // namespace tunesmith::network
