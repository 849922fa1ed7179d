#include <cmath>

#include <fmt/format.h>

#include "schedule/annotation_target.h"
#include "schedule/kind_builder.h"
#include "schedule/primitives.h"

namespace tunesmith {

void annotate(Program& program, const AnnotationTarget& target, std::string_view key, AnnotationValue value) {
  const auto [annotations, place] = annotations_of(program, target, "annotate");
  if (key.empty()) throw ScheduleError("annotate", "the key is empty", "", program, place);
  const auto* number = std::get_if<double>(&value);
  if (number != nullptr && !std::isfinite(*number)) {
    throw ScheduleError("annotate", "the value is not a finite number", std::string(key), program, place);
  }
  const auto [at, fresh] = annotations->try_emplace(std::string(key), std::move(value));
  if (!fresh) throw ScheduleError("annotate", "the key is there already", at->first, program, place);
}

KindPtr annotate_kind() {
  return make_loop_transformation(
      "annotate",
      {{"target", ParamType::BlockOrRootOrLoop}, {"key", ParamType::String}, {"value", ParamType::Scalar}},
      ResultType::None, [](Program& program, const Arguments& args) -> std::vector<Value> {
        annotate(program, as_annotation_target(args[0]), args.string(1), args.scalar(2));
        return {};
      });
}

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
