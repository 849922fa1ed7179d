// `prior train` and `prior eval`.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/files.h>
#include <tunesmith/tuning/first_program.h>
#include <tunesmith/workload/library.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "measured.h"
#include "model.h"
#include "output.h"
#include "progress/progress.h"
#include "session.h"
#include "tasks.h"

namespace tunesmith::cli {
namespace {

std::vector<PriorExample> examples_of(const std::string& file, double share, ReadShard& shard) {
  std::vector<PriorExample> examples;
  shard = read_shard(file, [&](const nlohmann::json& task) { examples.push_back(example_of(task, share)); });
  return examples;
}

/// For one task and number of draws: the time of the program with the best score, relative to that of the
/// best known program.
struct PriorFigure {
  std::string workload;
  int64_t draws = 0;
  double drawn = 0.0;  // drawn by the sampling instructions
  double prior = 0.0;
  double drawn_seconds = 0.0;
  double prior_seconds = 0.0;
};

double geometric_mean(const std::vector<PriorFigure>& figures, int64_t draws, double PriorFigure::* what) {
  double sum = 0.0;
  double count = 0.0;
  for (const PriorFigure& one : figures) {
    if (one.draws != draws) continue;
    sum += std::log(one.*what);
    ++count;
  }
  return count > 0.0 ? std::exp(sum / count) : 0.0;
}

double worst(const std::vector<PriorFigure>& figures, int64_t draws, double PriorFigure::* what) {
  double least = 1.0;
  for (const PriorFigure& one : figures) {
    if (one.draws == draws) least = std::min(least, one.*what);
  }
  return least;
}

class Evaluation {
 public:
  Evaluation(const Common& common, const PriorArguments& arguments)
      : arguments_(arguments),
        prior_(Prior::load(read_whole_file(arguments.prior), arguments.prior)),
        session_(common),
        space_(session_.space(TargetPresence::NotRequired)),
        line_(common.quiet || common.json) {}

  /// Evaluates tasks that were drawn. Measured tasks are evaluated by measured().
  std::vector<PriorFigure> run() {
    std::vector<std::string> workloads;
    const ReadShard shard = read_shard(arguments_.shards.front(), [&](const nlohmann::json& task) {
      if (!is_measured_task(task)) return workloads.push_back(task.at("workload").get<std::string>());
      for (MeasuredFigure& one : measured_figures(prior_, task, arguments_.counts))
        measured_.push_back(std::move(one));
    });
    if (shard.part != part_name(PriorPart::HeldOut))
      throw UserError(SourceLocation{arguments_.shards.front(), 1, 0},
                      "the prior may have been trained on these tasks: the shard has training tasks",
                      "create a held-out shard with: tunesmith prior collect --held-out");
    for (size_t i = 0; i < workloads.size(); ++i) {
      line_.say(fmt::format("task {} of {}: {}", i + 1, workloads.size(), workloads[i]));
      add(WorkloadLibrary().load(workloads[i]));
    }
    line_.clear();
    return std::move(figures_);
  }
  const std::vector<MeasuredFigure>& measured() const { return measured_; }

 private:
  struct Best {
    double score = 0.0;
    double seconds = 0.0;
  };
  Best best_of(const Workload& workload, int64_t draws, const Prior* prior) {
    const auto begin = std::chrono::steady_clock::now();
    const RankedDraws ranked =
        best_of_draws(workload, *space_, *space_->create_cost_model(),
                      {draws, static_cast<uint64_t>(arguments_.seed), 1, prior}, pool_);
    if (ranked.best.empty()) return {-1e9, 0.0};
    return {ranked.scores.front(),
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  }

  void add(const Workload& workload) {
    std::vector<PriorFigure> of_task;
    double best = -1e9;
    for (const int64_t draws : arguments_.counts) {
      const Best drawn = best_of(workload, draws, nullptr);
      const Best by_prior = best_of(workload, draws, &prior_);
      of_task.push_back({workload.key, draws, drawn.score, by_prior.score, drawn.seconds, by_prior.seconds});
      best = std::max({best, drawn.score, by_prior.score});
    }
    for (PriorFigure& one : of_task) {
      one.drawn = std::exp(one.drawn - best);
      one.prior = std::exp(one.prior - best);
      figures_.push_back(one);
    }
  }

  const PriorArguments& arguments_;
  const Prior prior_;
  Session session_;
  const std::unique_ptr<Space> space_;
  LiveLine line_;
  ThreadPool pool_;
  std::vector<PriorFigure> figures_;
  std::vector<MeasuredFigure> measured_;
};

void print_figures(const std::vector<PriorFigure>& figures, const PriorArguments& arguments) {
  fmt::print(output(), "predicted speed relative to the best of all draws: geometric mean (worst)\n");
  fmt::print(output(), "{:>6}  {:>15}  {:>15}\n", "draws", "drawn", "by the prior");
  for (const int64_t draws : arguments.counts) {
    fmt::print(
        output(), "{:>6}  {:>6.3f} ({:>6.3f})  {:>6.3f} ({:>6.3f})\n", draws,
        geometric_mean(figures, draws, &PriorFigure::drawn), worst(figures, draws, &PriorFigure::drawn),
        geometric_mean(figures, draws, &PriorFigure::prior), worst(figures, draws, &PriorFigure::prior));
  }
}

}  // namespace

int run_prior_train(const Common& common, const PriorArguments& arguments) {
  require_folder_of(arguments.output);
  std::vector<PriorExample> examples;
  PriorSource source;
  source.seed = static_cast<uint64_t>(arguments.seed);
  for (const std::string& file : arguments.shards) {
    ReadShard shard;
    std::vector<PriorExample> more = examples_of(file, arguments.elite, shard);
    if (shard.part != part_name(PriorPart::Training))
      throw UserError(SourceLocation{file, 1, 0}, "cannot train on this shard: its tasks are held out",
                      "create a training shard with: tunesmith prior collect");
    if (!source.space.empty() && source.space != shard.space)
      throw UserError(SourceLocation{file, 1, 0},
                      fmt::format("shards of different spaces: '{}' and '{}'", shard.space, source.space));
    source.space = shard.space;
    source.machines.insert(shard.machine);
    source.tasks += std::ssize(more);
    std::ranges::move(more, std::back_inserter(examples));
  }
  for (const PriorExample& example : examples) source.programs += std::ssize(example.programs);
  if (source.programs == 0) throw UserError("the shards have no programs to train on");
  PriorTraining training;
  training.seed = source.seed;
  training.epochs = static_cast<int>(arguments.epochs);
  const Prior prior = train_prior(examples, training, source);
  const double likelihood = mean_log_likelihood(prior, examples);
  const double drawn = mean_log_likelihood(Prior(), examples);
  OutputFile file(arguments.output, {arguments.shards.begin(), arguments.shards.end()});
  file.stream() << prior.save();
  file.commit();
  if (common.json) {
    print_json({{"file", arguments.output},
                {"space", source.space},
                {"tasks", source.tasks},
                {"programs", source.programs},
                {"log_likelihood", likelihood},
                {"log_likelihood_of_even_choices", drawn}});
    return kDone;
  }
  fmt::print(output(),
             "{}: of {} programs of {} tasks of the space '{}'\nmean log likelihood of a choice: {:.3f}, "
             "uniform {:.3f}\n",
             arguments.output, source.programs, source.tasks, source.space, likelihood, drawn);
  return kDone;
}

int run_prior_eval(const Common& common, const PriorArguments& arguments) {
  Evaluation evaluation(common, arguments);
  const std::vector<PriorFigure> figures = evaluation.run();
  if (!common.json) {
    if (!figures.empty()) print_figures(figures, arguments);
    if (!evaluation.measured().empty()) print_measured(evaluation.measured(), arguments.counts);
    return kDone;
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const PriorFigure& one : figures) {
    rows.push_back({{"workload", one.workload},
                    {"draws", one.draws},
                    {"drawn", one.drawn},
                    {"prior", one.prior},
                    {"drawn_seconds", one.drawn_seconds},
                    {"prior_seconds", one.prior_seconds}});
  }
  print_json({{"figures", rows}, {"measured", measured_json(evaluation.measured())}});
  return kDone;
}

}  // namespace tunesmith::cli
