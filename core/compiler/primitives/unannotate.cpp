#include <fmt/format.h>

#include "primitives/primitives.h"
#include "primitives/shared/annotation_target.h"
#include "trace/kind_builder.h"

namespace tunesmith {

void unannotate(Program& program, const AnnotationTarget& target, std::string_view key) {
  const auto [annotations, place] = annotations_of(program, target, "unannotate");
  const auto at = annotations->find(std::string(key));
  if (at == annotations->end()) {
    std::vector<std::string> known;
    for (const auto& [other, value] : *annotations) known.push_back(other);
    throw ScheduleError("unannotate", "unknown annotation",
                        fmt::format("'{}'{}", key, known.empty() ? "" : "; " + suggest(key, known)), program,
                        place);
  }
  annotations->erase(at);
}

KindPtr unannotate_kind() { return make_loop_transformation("unannotate", unannotate, {"target", "key"}); }

void Schedule::unannotate(BlockRV block, std::string_view key) {
  execute(kind("unannotate"), {block, std::string(key)});
}
void Schedule::unannotate(LoopRV loop, std::string_view key) {
  execute(kind("unannotate"), {loop, std::string(key)});
}
void Schedule::unannotate(std::string_view key) { execute(kind("unannotate"), {Arg(), std::string(key)}); }

}  // namespace tunesmith
