#include "reference.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tunesmith/support/error.h>
#include <tunesmith/tuning/ranking.h>
#include <tunesmith/workload/library.h>

namespace tunesmith::cli {
namespace {

/// As the workload is written, without a schedule: every target has it, and it reads more than caches hold
/// of one row.
constexpr const char* kWorkload = "gmm:n=192,m=192,k=192";
constexpr double kDrift = 0.05;
constexpr int kRepeats = 20;

}  // namespace

Reference::Reference(const Space& space, const WorkerTarget& worker_target, MeasureOptions options,
                     std::chrono::duration<double> every, std::function<void(const std::string&)> say)
    : workload_(WorkloadLibrary().load(kWorkload)), every_(every), say_(std::move(say)) {
  options.min_repeats = options.max_repeats = kRepeats;
  const auto candidate = space.materialise(workload_.program, Trace(), RandomStream(0));
  if (!candidate)
    throw EnvironmentError(
        fmt::format("the target takes no reference program: {}", candidate.error().message));
  auto compiled = space.target().compile((*candidate)->lowered, "tunesmith_reference");
  if (!compiled)
    throw EnvironmentError(fmt::format("the reference program does not compile: {}", compiled.error()));
  kernel_ = *std::move(compiled);
  runner_ = make_worker_runner(workload_, space.target(), worker_target, options);
}

Reference::~Reference() = default;

bool Reference::apart(double one, double other) {
  return std::max(one, other) > (1.0 + kDrift) * std::min(one, other);
}

void Reference::look() {
  const auto now = std::chrono::steady_clock::now();
  if (first_seconds_ > 0.0 && now - timed_ < every_) return;
  seconds_ = time();
  // What others do for a moment is no drift of the machine.
  if (first_seconds_ > 0.0 && apart(seconds_, first_seconds_)) seconds_ = time();
  timed_ = std::chrono::steady_clock::now();
  if (first_seconds_ <= 0.0) first_seconds_ = seconds_;
  const bool drifts = apart(seconds_, first_seconds_);
  if (drifts == std::exchange(drifted_, drifts)) return;
  say_(drifts
           ? fmt::format("the reference program takes {:.2f} times what it took at first; times are marked "
                         "disturbed until it is back: look for other work, heat and the governor",
                         seconds_ / first_seconds_)
           : "the reference program takes what it took at first");
}

double Reference::time() {
  const MeasureRequest request{&kernel_, 0.0, false};
  const MeasureResult result = runner_->run({&request, 1}).front();
  if (!result.timing)
    throw EnvironmentError(fmt::format("the reference program cannot be measured: {}",
                                       result.failure ? result.failure->message : "it was stopped"));
  return quantile_interval(result.timing->samples, kTimeQuantile).value;
}

}  // namespace tunesmith::cli
