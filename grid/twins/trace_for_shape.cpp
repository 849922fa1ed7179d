#include "twins/trace_for_shape.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "tunesmith/intrinsics/matrix_product.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {
namespace {

constexpr std::string_view kFusion = "transform_block_layout";

/// The index map that makes a matrix product of the block that `fusion` changes;
/// empty if it is none or needs no change. `before`: the instructions before it.
std::string fusion_of(const Program& program, const Trace& before, const Instruction& fusion,
                      const std::shared_ptr<const TensorIntrinsics>& intrinsics) {
  const auto schedule = replay(program, before, RandomStream(0), nullptr, intrinsics);
  if (!schedule) return "";
  MatrixProduct product;
  const BlockRV block{std::get<TraceVar>(fusion.args[0])};
  return match_matrix_product(schedule->block(block), &product).empty() ? product.index_map : "";
}

}  // namespace

TraceForShape::TraceForShape(const Program& program, const Trace& trace,
                             std::shared_ptr<const TensorIntrinsics> intrinsics)
    : trace_(trace), intrinsics_(std::move(intrinsics)) {
  Trace before;
  for (size_t i = 0; i < trace.size(); ++i) {
    const Instruction& instruction = trace[i];
    if (instruction.kind->name() == kFusion &&
        fusion_of(program, before, instruction, intrinsics_) == std::get<std::string>(instruction.args[1]))
      fusions_.push_back(i);
    before.append(trace.shared(i));
  }
}

std::optional<Trace> TraceForShape::of(const Program& instance) const {
  if (fusions_.empty()) return trace_;
  Trace result;
  for (size_t i = 0; i < trace_.size(); ++i) {
    if (std::ranges::find(fusions_, i) == fusions_.end()) {
      result.append(trace_.shared(i));
      continue;
    }
    Instruction fusion = trace_[i];
    std::string map = fusion_of(instance, result, fusion, intrinsics_);
    if (map.empty()) return std::nullopt;
    fusion.args[1] = std::move(map);
    result.append(std::make_shared<const Instruction>(std::move(fusion)));
  }
  return result;
}

}  // namespace tunesmith
