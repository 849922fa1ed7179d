// `prior collect`: collects tasks and programs from which a prior over decisions learns.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/proposals/sequence.h>
#include <tunesmith/support/files.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/support/version.h>
#include <tunesmith/tuning/first_program.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "common/print_json.h"
#include "model/tasks.h"
#include "output.h"
#include "progress/progress.h"
#include "session.h"
#include "shard.h"
#include "tasks.h"

namespace tunesmith::cli {
namespace {

/// Everything on which a shard's lines depend.
nlohmann::json head_of(const Space& space, const PriorArguments& arguments, PriorPart part) {
  const std::string& text = space.cost_model_text();
  nlohmann::json machine = nlohmann::json::object();
  for (const auto& [name, value] : space.device().all()) machine[name] = value;
  return {{"format", "tunesmith prior shard"},
          {"sequence", kSequenceVersion},
          {"tunesmith", std::string(kernel_version())},
          {"part", part_name(part)},
          {"space", space.spec().name},
          {"rules", hex64(space.rules_hash())},
          {"target", space.task_target().str()},
          {"machine", machine},
          {"cost_model", text.substr(0, text.rfind('\n'))},
          {"suites", arguments.suites},
          {"stores", arguments.stores},
          {"tables", arguments.tables},
          {"programs", arguments.programs},
          {"seed", arguments.seed}};
}

class Collection {
 public:
  Collection(const Common& common, const PriorArguments& arguments)
      : common_(common),
        arguments_(arguments),
        part_(arguments.held_out ? PriorPart::HeldOut : PriorPart::Training),
        session_(common),
        space_(session_.space(TargetPresence::NotRequired)),
        file_(arguments.output, head_of(*space_, arguments, part_)),
        line_(common.quiet || common.json) {}

  int run() {
    const std::atomic<bool>& stop =
        stop_on_interrupt("tunesmith: interrupted; the same command continues where this one ended\n");
    add_measured(stop);
    const std::vector<PriorTask> tasks =
        draw_prior_tasks(arguments_.suites, part_, static_cast<size_t>(arguments_.tasks),
                         static_cast<uint64_t>(arguments_.seed));
    for (size_t i = 0; i < tasks.size() && !stop; ++i) {
      line_.say(fmt::format("task {} of {}: {}", i + 1, tasks.size(), tasks[i].workload.key));
      add_line([&] { return drawn(tasks[i], i); });
    }
    line_.clear();
    print(stop);
    return stop ? kInterrupted : kDone;
  }

 private:
  /// Makes only lines that the file does not have yet.
  template <typename Make>
  void add_line(const Make& make) {
    if (done_++ < file_.lines()) return;
    const ShardTask task = make();
    programs_ += task.programs();
    file_.add(task.line());
    ++added_;
  }

  ShardTask drawn(const PriorTask& task, size_t number) {
    const RankedDraws draws = best_of_draws(
        task.workload, *space_, *space_->create_cost_model(),
        {arguments_.programs, RandomStream(static_cast<uint64_t>(arguments_.seed), number).next(),
         static_cast<size_t>(arguments_.programs)},
        pool_);
    ShardTask line(task.workload, task.base, space_->device());
    for (size_t i = 0; i < draws.best.size(); ++i) line.add(*draws.best[i], draws.scores[i], std::nullopt);
    return line;
  }

  void add_measured(const std::atomic<bool>& stop) {
    if (!arguments_.stores.empty())
      for (const MeasuredTask& task : load_measured_tasks(arguments_.stores, *space_)) {
        if (stop) return;
        add_measured("a store", task);
      }
    for (const std::string& table : arguments_.tables) {
      if (stop) return;
      line_.say(fmt::format("the table {}", table));
      add_measured(table, load_measured_table(table, space_->spec(), session_.registry()));
    }
  }

  void add_measured(const std::string& source, const MeasuredTask& task) {
    if (part_of(task.workload) != part_) {
      ++of_the_other_part_;
      return;
    }
    add_line([&] {
      const std::shared_ptr<CostModel> model = space_->create_cost_model();
      model->begin(task.workload, task.device);
      std::vector<CandidatePtr> candidates;
      for (const Measured& measured : task.programs) {
        if (measured.timing) candidates.push_back(measured.candidate);
      }
      const std::vector<double> scores = model->predict(candidates);
      ShardTask line(task.workload, source, task.device);
      size_t next = 0;
      for (const Measured& measured : task.programs) {
        if (measured.timing) line.add(*measured.candidate, scores[next++], measured.timing->min);
      }
      return line;
    });
  }

  void print(bool interrupted) const {
    if (common_.json) {
      print_json({{"file", arguments_.output},
                  {"part", part_name(part_)},
                  {"tasks", file_.lines() + added_},
                  {"tasks_added", added_},
                  {"programs_added", programs_},
                  {"measured_tasks_of_the_other_part", of_the_other_part_},
                  {"interrupted", interrupted}});
      return;
    }
    fmt::print(output(), "{}: {} {} tasks, {} of them added now with {} programs\n", arguments_.output,
               file_.lines() + added_, part_name(part_), added_, programs_);
    if (of_the_other_part_ > 0)
      fmt::print(output(), "left out: {} measured task{} that belong to the other split\n",
                 of_the_other_part_, of_the_other_part_ > 1 ? "s" : "");
  }

  const Common& common_;
  const PriorArguments& arguments_;
  const PriorPart part_;
  Session session_;
  const std::unique_ptr<Space> space_;
  ShardFile file_;
  LiveLine line_;
  ThreadPool pool_;
  size_t done_ = 0;
  size_t added_ = 0;
  size_t programs_ = 0;
  size_t of_the_other_part_ = 0;
};

}  // namespace

int run_prior_collect(const Common& common, const PriorArguments& arguments) {
  require_folder_of(arguments.output);
  return Collection(common, arguments).run();
}

}  // namespace tunesmith::cli
