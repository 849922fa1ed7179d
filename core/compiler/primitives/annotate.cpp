#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "primitives/shared/annotation_target.h"
#include "trace/kind_builder.h"
#include "tunesmith/analysis/storage_alignment.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// Does a block under the loop write elements of an output, each once, that no block reads?
bool writes_final_elements(const Program& program, const Stmt& loop) {
  return std::ranges::any_of(collect<Block>(loop), [&](const Block* block) {
    if (block->has_reduction()) return false;
    return std::ranges::any_of(buffers_written(*block), [&](const Buffer& buffer) {
      return is_output(program, buffer) && uses_of(program, buffer, nullptr).readers.empty();
    });
  });
}

/// Keys that lowering interprets must be on the right kind of statement, with valid values.
std::optional<Refusal> known_key_refusal(const Program& program, const Stmt* place, std::string_view key,
                                         const AnnotationValue& value) {
  const auto refuse = [&](std::string_view reason) { return Refusal{reason, std::string(key), place}; };
  if (key == kStorageAlign || key == kStorageSwizzle || key == kTensorIntrinsic || key == kSoftwarePipeline)
    return refuse("the key is reserved for an instruction");
  if (key == kTogetherAlong || key == kTensorContent) return refuse("the key is reserved for lowering");
  const auto* number = std::get_if<int64_t>(&value);
  if (key == kPrefetch) {
    if (place == nullptr || place->kind != StmtKind::Loop) return refuse("the key is for loops");
    if (number == nullptr || *number < 1 || *number > (int64_t{1} << 20))
      return refuse("the value is not a number of iterations between 1 and 2^20");
  }
  if (key == kNontemporal || key == kPrefetchBehind) {
    if (place == nullptr || place->kind != StmtKind::Loop) return refuse("the key is for loops");
    if (number == nullptr || (*number != 0 && *number != 1)) return refuse("the value is neither 0 nor 1");
    if (key == kNontemporal && !writes_final_elements(program, *place))
      return refuse("no block under the loop writes each element of an output once that no block reads");
  }
  if (key == kDoubleBuffer) {
    const Block* block = place == nullptr ? nullptr : place->as<Block>();
    if (block == nullptr) return refuse("the key is for blocks");
    const std::vector<Buffer> written = buffers_written(*block);
    if (written.size() != 1 || !is_intermediate(program, written[0]))
      return refuse("the block does not write exactly one intermediate buffer");
    if (number == nullptr || *number != 1) return refuse("the value is not 1");
  }
  return std::nullopt;
}

}  // namespace

void annotate(Program& program, const AnnotationTarget& target, std::string_view key, AnnotationValue value) {
  const auto [annotations, place] = annotations_of(program, target, "annotate");
  if (key.empty()) throw ScheduleError("annotate", "the key is empty", "", program, place);
  const auto* number = std::get_if<double>(&value);
  if (number != nullptr && !std::isfinite(*number)) {
    throw ScheduleError("annotate", "the value is not a finite number", std::string(key), program, place);
  }
  throw_refusal("annotate", program, known_key_refusal(program, place, key, value));
  const auto [at, fresh] = annotations->try_emplace(std::string(key), std::move(value));
  if (!fresh) throw ScheduleError("annotate", "the key already exists", at->first, program, place);
}

KindPtr annotate_kind() { return make_loop_transformation("annotate", annotate, {"target", "key", "value"}); }

namespace {
Arg annotation_arg(Schedule::AnnotationArg value) {
  if (auto* variable = std::get_if<IntRV>(&value)) return TraceVar{variable->index};
  if (auto* whole = std::get_if<int64_t>(&value)) return *whole;
  if (auto* decimal = std::get_if<double>(&value)) return *decimal;
  return std::get<std::string>(std::move(value));
}
}  // namespace

void Schedule::annotate(BlockRV block, std::string_view key, AnnotationArg value) {
  execute(kind("annotate"), {block, std::string(key), annotation_arg(std::move(value))});
}
void Schedule::annotate(LoopRV loop, std::string_view key, AnnotationArg value) {
  execute(kind("annotate"), {loop, std::string(key), annotation_arg(std::move(value))});
}
void Schedule::annotate(std::string_view key, AnnotationArg value) {
  execute(kind("annotate"), {Arg(), std::string(key), annotation_arg(std::move(value))});
}

}  // namespace tunesmith
