#include "plain_forms.h"

#include <algorithm>
#include <optional>
#include <string>

#include "tunesmith/ir/visit.h"
#include "tunesmith/target/separate_device.h"
#include "tunesmith/trace/in_threads.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {
namespace {

/// The first block of each nest at the root.
std::vector<std::string> first_blocks(const Program& program) {
  std::vector<std::string> names;
  for (const StmtPtr& nest : program.root().children()) {
    const Block* first = find_first<Block>(*nest);
    if (first != nullptr && nest->kind == StmtKind::Loop) names.push_back(first->name);
  }
  return names;
}

}  // namespace

std::vector<Trace> plain_forms(const Program& program, Target& target) {
  if (target.separate_device() != nullptr && !models_times(target)) {
    if (std::optional<Schedule> schedule = in_threads(program, target.execution())) {
      schedule->enter_finishing();
      return {schedule->trace()};
    }
  }
  Schedule unscheduled(program);
  unscheduled.enter_finishing();
  Schedule outermost(program);
  bool parallel = false;
  for (const std::string& name : first_blocks(program)) {
    Schedule tried = outermost.clone();
    const std::vector<LoopRV> loops = tried.get_loops(tried.get_block(name));
    const auto first =
        std::ranges::find_if(loops, [&](const LoopRV& loop) { return tried.loop(loop).const_extent() > 1; });
    if (first == loops.end()) continue;
    try {
      tried.parallel(*first);
    } catch (const ScheduleError&) {
      continue;  // the loop carries a reduction
    }
    outermost = std::move(tried);
    parallel = true;
  }
  outermost.enter_finishing();
  std::vector<Trace> forms{unscheduled.trace()};
  if (parallel) forms.push_back(outermost.trace());
  return forms;
}

}  // namespace tunesmith
