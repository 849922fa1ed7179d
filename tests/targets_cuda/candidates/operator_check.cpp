#include "operator_check.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "nvrtc/fitted_kernel.h"
#include "nvrtc/kernel_compiler.h"
#include "nvrtc/refusal.h"
#include "processor_time.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/workload/library.h"

namespace tunesmith::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kSymbol = "candidate";
constexpr const char* kCompileError = "compile_error";
constexpr double kLongest = 100;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::shared_ptr<cuda::CudaTarget> target_of(const SpaceSpec& space) {
  return std::make_shared<cuda::CudaTarget>(Options::validate(cuda::CudaTarget::specs(), space.target.options,
                                                              "target 'cuda'", space.target.location));
}

/// The folder of the build, or of its copy, that contains this program.
std::string plugin_folder() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
          "lib/tunesmith/plugins")
      .string();
}

/// The emulation's name of a mistake, with which its message begins; else the cause of the failure.
std::string name_of(const CandidateFailure& failure) {
  static const std::regex finding(R"(^([a-z_]+) \(\d+ times\))");
  std::smatch match;
  if (std::regex_search(failure.message, match, finding)) return match[1];
  return std::string(failure_cause_name(failure.cause));
}

}  // namespace

bool OperatorCounts::right() const {
  const auto has_errors = [](const auto& entry) { return entry.second.refused.contains(kCompileError); };
  return candidates > 0 && mistakes.empty() && std::ranges::none_of(architectures, has_errors);
}

OperatorCheck::OperatorCheck(const std::string& operator_id, const SpaceSpec& space,
                             const std::string& workload, PluginRegistry& registry)
    : target_(target_of(space)),
      space_(space, registry, target_),
      workload_(WorkloadLibrary().load(workload)),
      sketches_(space_.generate(workload_.program)),
      twins_(workload_, space_) {
  counts_.operator_id = operator_id;
  counts_.space = space.name;
  counts_.workload = workload;
  MeasureOptions options;
  options.time_out_seconds = kLongest;
  runner_ = make_worker_runner(workload_, *target_, {"cuda", {}, {plugin_folder()}}, options);
}

bool OperatorCheck::uses_unit() const {
  return std::ranges::any_of(sketches_.sketches, [](const Schedule& sketch) {
    return sketch.trace().str().find("tensorize(") != std::string::npos;
  });
}

void OperatorCheck::draw(int count, int max_draws, uint64_t seed) {
  std::set<uint64_t> known;
  for (; counts_.drawn < max_draws && counts_.candidates < count; ++counts_.drawn) {
    RandomStream random(seed, static_cast<uint64_t>(counts_.drawn));
    const Trace sketch =
        sketches_.sketches[random.below(sketches_.sketches.size())].trace().with_open_decisions();
    auto drawn = space_.materialise(workload_.program, sketch, random);
    if (!drawn) {
      ++counts_.kept[std::string(failure_cause_name(drawn.error().cause))];
      ++counts_.reasons[drawn.error().message];
    } else if (!known.insert((*drawn)->lowered_hash).second) {
      ++counts_.kept["same"];
    } else {
      ++counts_.candidates;
      candidates_.push_back(std::move(*drawn));
    }
  }
}

double OperatorCheck::compile(const cuda::Nvrtc& nvrtc, const std::vector<std::string>& architectures,
                              size_t threads) {
  const cuda::KernelCompiler compiler(nvrtc);
  struct Compiled {
    std::vector<double> seconds;
    std::optional<cuda::Refusal> refusal;
    bool rewritten = false;
  };
  std::vector<Compiled> compiled(candidates_.size() * architectures.size());
  ThreadPool pool(threads);
  const Clock::time_point start = Clock::now();
  pool.parallel_for(compiled.size(), [&](size_t job) {
    const Candidate& candidate = *candidates_[job / architectures.size()];
    const std::string& name = architectures[job % architectures.size()];
    for (const cuda::FittedKernel& kernel :
         target_->fit(candidate.lowered, kSymbol, compiler, cuda::find_architecture(name))) {
      compiled[job].seconds.push_back(kernel.cpu_seconds);
      if (!compiled[job].refusal) compiled[job].refusal = kernel.refusal;
      compiled[job].rewritten = compiled[job].rewritten || kernel.form != cuda::TextForm::Usual;
    }
  });
  const double seconds = seconds_since(start);
  for (size_t number = 0; number < candidates_.size(); ++number) {
    bool fits = true;
    for (size_t i = 0; i < architectures.size(); ++i) {
      const Compiled& one = compiled[number * architectures.size() + i];
      ArchitectureCounts& counts = counts_.architectures[architectures[i]];
      counts.seconds.insert(counts.seconds.end(), one.seconds.begin(), one.seconds.end());
      if (one.rewritten && !one.refusal) ++counts.rewritten;
      if (!one.refusal) continue;
      fits = false;
      note(counts.refused, cuda::refusal_name(one.refusal->cause), one.refusal->text, *candidates_[number]);
    }
    if (fits) ++counts_.fitting;
  }
  return seconds;
}

void OperatorCheck::verify() {
  const Clock::time_point start = Clock::now();
  for (const CandidatePtr& candidate : candidates_) verify_one(*candidate);
  counts_.elapsed = seconds_since(start);
}

void OperatorCheck::verify_one(const Candidate& candidate) {
  const double start = processor_seconds();
  const std::optional<Twin> twin = twins_.find(candidate);
  const double found = processor_seconds();
  counts_.finding.push_back(found - start);
  const auto kernel = target_->compile_emulated(candidate.lowered,
                                                twin ? twin->candidate->lowered : candidate.lowered, kSymbol);
  if (!kernel) return note(counts_.mistakes, kCompileError, kernel.error(), candidate);
  counts_.compiling.push_back(processor_seconds() - found);
  if (twin) ++counts_.twins;
  const Workload* const instance = twin ? twin->workload.get() : nullptr;
  const auto timed = [&](Verified& verified) {
    const double begin = processor_seconds();
    verified = run(*kernel, instance);
    return processor_seconds() - begin;
  };
  Verified verified;
  double seconds = timed(verified);
  // The first candidate at a shape waits for its reference.
  if (counts_.shapes[twin ? twin->workload->key : workload_.key]++ == 0 && verified.cause.empty()) {
    const double again = timed(verified);
    counts_.references.push_back(seconds - again);
    seconds = again;
  }
  counts_.running.push_back(seconds);
  if (!verified.cause.empty())
    note(counts_.mistakes, verified.cause,
         fmt::format("{} (at {})", verified.message, twin ? twin->workload->key : workload_.key), candidate);
}

OperatorCheck::Verified OperatorCheck::run(const CompiledKernel& kernel, const Workload* instance) {
  const MeasureRequest request{&kernel, 0.0, false, instance};
  const MeasureResult result = runner_->run({&request, 1}).front();
  if (!result.failure) return {};
  return {name_of(*result.failure), result.failure->message};
}

void OperatorCheck::note(std::map<std::string, int>& of, const std::string& cause, const std::string& message,
                         const Candidate& candidate) {
  if (++of[cause] > 1) return;
  const bool limit = &of != &counts_.mistakes && cause != kCompileError;
  counts_.examples.push_back(fmt::format("{} in {}: {}: {}\n{}", counts_.workload, counts_.space, cause,
                                         message, limit ? "" : candidate.trace.str()));
}

}  // namespace tunesmith::testing
