// Samples how much to parallelise, vectorise and unroll, as annotations of the program.
// rewrite_parallel_vectorize_unroll implements them when a candidate is finished, so that changing one
// decision does not invalidate others.
#include <algorithm>
#include <vector>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

class ParallelVectorizeUnroll final : public TransformationModule {
 public:
  explicit ParallelVectorizeUnroll(const Options& options)
      : max_jobs_per_core_(options.get_int("max_jobs_per_core")),
        max_vectorize_(options.get_int("max_vectorize")),
        unroll_(options.get_ints("unroll")) {
    if (unroll_.empty()) options.fail("unroll", "expected at least one number of steps; 0 is no unrolling");
  }

  ModuleStage stage() const override { return ModuleStage::Root; }

  ModuleDescription description() const override {
    std::vector<std::string> makes{"unroll_steps"};
    if (max_jobs_per_core_ > 0) makes.emplace_back("parallel_jobs");
    if (max_vectorize_ > 1) makes.emplace_back("vectorize");
    return {.makes = std::move(makes), .partners = {"rewrite_parallel_vectorize_unroll"}};
  }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    const auto cores = static_cast<int64_t>(context.device().get("cores"));
    const int64_t jobs = max_jobs_per_core_ * cores;
    if (jobs > 0 && iterations(schedule.program()) <= kFewIterations) {
      schedule.annotate("parallel_jobs", schedule.sample_categorical({0, jobs}, {0.5, 0.5}));
    } else if (jobs > 0) {
      schedule.annotate("parallel_jobs", jobs);
    }
    if (max_vectorize_ > 1) schedule.annotate("vectorize", max_vectorize_);
    if (has_open_reduction(schedule.program())) {
      const std::vector<double> uniform(unroll_.size(), 1.0 / static_cast<double>(unroll_.size()));
      schedule.annotate("unroll_steps", schedule.sample_categorical(unroll_, uniform));
    } else {
      schedule.annotate("unroll_steps", int64_t{0});
    }
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  /// For fewer iterations, starting other threads may take longer.
  static constexpr int64_t kFewIterations = 4096;

  static int64_t iterations(const Program& program) {
    int64_t all = 0;
    for (const Pointer<Block>& block : program.blocks()) {
      const auto [spatial, reduction] = iteration_count(*block);
      all += spatial * reduction;
    }
    return all;
  }

  /// If the loops of every reduction are already unrolled (as in
  /// a register tile), the limit would only give equal programs.
  static bool has_open_reduction(const Program& program) {
    bool any = false;
    for (const Pointer<Block>& block : program.blocks()) {
      if (iteration_count(*block).reduction == 1) continue;
      any = true;
      const std::vector<Pointer<Loop>> loops = loops_above(*block);
      if (std::ranges::none_of(
              loops, [](const Pointer<Loop>& loop) { return loop->loop_kind == LoopKind::Unrolled; }))
        return true;
    }
    return !any;
  }

  int64_t max_jobs_per_core_;
  int64_t max_vectorize_;
  std::vector<int64_t> unroll_;
};

}  // namespace

TUNESMITH_PLUGIN(ParallelVectorizeUnroll, PluginKind::Module, "parallel_vectorize_unroll", "0.1.0",
                 "sample how far to parallelise, vectorise and unroll",
                 OptionSpec::integer("max_jobs_per_core", 16, 0, 4096,
                                     "parallel iterations for each core at most; 0 = serial"),
                 OptionSpec::integer("max_vectorize", 64, 1, 1024,
                                     "iterations in one vector operation at most; 1 = scalar"),
                 OptionSpec::integers("unroll", {0, 16, 64, 512}, 0, 4096,
                                      "choices for the steps that an unrolled loop body may have"));
