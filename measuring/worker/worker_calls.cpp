// How a worker calls a candidate: with what memory, to verify it and to time it.
#include <array>
#include <atomic>
#include <exception>
#include <thread>

#include "tunesmith/support/error.h"
#include "tunesmith/support/monotonic_clock.h"
#include "worker/worker_faults.h"
#include "worker/worker_task.h"

namespace tunesmith {
namespace {

/// Calls beside one of the other thread, after each of which results are looked at. Where another process has
/// the other processors, they come when a thread is interrupted in a call; so long that is waited for.
constexpr int kTogetherCalls = 8;
constexpr double kTogetherSeconds = 5e-3;

/// A chunk that the caller takes says nothing of the thread that it was meant for, which may lack its set-up.
class EveryThreadAtWork {
 public:
  explicit EveryThreadAtWork(tunesmith_runtime_pool* pool) : pool_(pool) {
    tunesmith_runtime_pool_set_stealing(pool_, 0);
  }
  ~EveryThreadAtWork() { tunesmith_runtime_pool_set_stealing(pool_, 1); }
  EveryThreadAtWork(const EveryThreadAtWork&) = delete;
  EveryThreadAtWork& operator=(const EveryThreadAtWork&) = delete;

 private:
  tunesmith_runtime_pool* pool_;
};

}  // namespace

GuardedBuffer* WorkerTask::workspace(int64_t bytes, std::unique_ptr<GuardedBuffer>& into) {
  if (bytes == 0) return nullptr;
  // Its end lies at the guard page for each kernel, so each gets one of its own size.
  if (!into || into->bytes() != bytes) {
    if (into) unwatch(*into);
    into.reset();
    into = std::make_unique<GuardedBuffer>(bytes, 64);
    watch_for_faults(*into);
  }
  return into.get();
}

template <typename Work>
void WorkerTask::for_each_set(const Work& work) {
  tunesmith_runtime_parallel_for(
      verifying_.get(), static_cast<int64_t>(sets_.size()),
      [](void* closure, int64_t begin, int64_t end) {
        for (int64_t set = begin; set < end; ++set)
          (*static_cast<const Work*>(closure))(static_cast<size_t>(set));
      },
      const_cast<void*>(static_cast<const void*>(&work)));
}

std::vector<Verdict> WorkerTask::verify(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                        bool at_once) {
  const EveryThreadAtWork every_thread(verifying_.get());
  GuardedBuffer* const space = workspace(kernel.workspace_bytes);
  std::vector<Verdict> verdicts;
  if (!at_once) {
    for (DataSet& data : sets_) {
      verdicts.push_back(verify_candidate(loaded, kernel, data, space, verifying_.get()));
      if (verdicts.back().failure) break;
    }
    return verdicts;
  }
  verdicts.resize(sets_.size());
  const std::array<GuardedBuffer*, 2> spaces{space, workspace(kernel.workspace_bytes, second_workspace_)};
  check_invariant(sets_.size() == spaces.size(), "there is a workspace for each data set");
  std::array<std::exception_ptr, 2> thrown;  // by the target: nothing may leave a thread of the pool
  for_each_set([&](size_t set) {
    try {
      verdicts[set] = verify_candidate(loaded, kernel, sets_[set], spaces[set], nullptr);
    } catch (...) {  // it is rethrown
      thrown[set] = std::current_exception();
    }
  });
  for (const std::exception_ptr& exception : thrown)
    if (exception) std::rethrow_exception(exception);
  return verdicts;
}

std::optional<CandidateFailure> WorkerTask::wrong_at_once(const LoadedKernel& loaded,
                                                          const CompiledKernel& kernel) {
  if (tunesmith_runtime_pool_threads(verifying_.get()) < 2) return std::nullopt;  // the system has no more
  const EveryThreadAtWork every_thread(verifying_.get());
  const std::array<GuardedBuffer*, 2> spaces{workspace(kernel.workspace_bytes),
                                             workspace(kernel.workspace_bytes, second_workspace_)};
  std::atomic<int> ready = 0;
  std::array<std::atomic<bool>, 2> calling{};
  std::atomic<bool> done = false;
  std::array<std::optional<CandidateFailure>, 2> wrong;
  for_each_set([&](size_t set) {
    DataSet& data = sets_[set];
    if (spaces[set] != nullptr) spaces[set]->place(data.placement);
    const KernelCall call{loaded.entry(), data.memory.kernel_pointers(kernel, nullptr),
                          spaces[set] == nullptr ? nullptr : spaces[set]->data(), nullptr};
    for (++ready; ready.load() < 2;) std::this_thread::yield();
    const double begin = now_seconds();
    for (int together = 0; together < kTogetherCalls && !wrong[set] && !done;) {
      data.memory.poison_outputs(data.poison);
      calling[set] = true;
      bool beside = calling[1 - set];
      call();
      beside = beside || calling[1 - set];
      calling[set] = false;
      if (beside) ++together;
      wrong[set] = wrong_after_call(data, data.draws.back().expected, spaces[set], nullptr);
      if (now_seconds() - begin > kTogetherSeconds) break;
    }
    done = true;
  });
  for (std::optional<CandidateFailure>& failure : wrong) {
    if (!failure) continue;
    failure->message += "; two threads called it at the same time, and one after the other it was right";
    return failure;
  }
  return std::nullopt;
}

KernelCall WorkerTask::timed_call(LoadedKernel& loaded, const CompiledKernel& kernel,
                                  const PreparedMemory* prepared, GuardedBuffer* workspace) const {
  return {loaded.entry(), timed_->kernel_pointers(kernel, prepared == nullptr ? nullptr : prepared->data()),
          workspace == nullptr ? nullptr : workspace->data(), pool_.get(), &loaded};
}

std::unique_ptr<PreparedMemory> WorkerTask::prepare(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                                    GuardedBuffer* workspace, double& seconds) const {
  if (!kernel.prepare) return nullptr;
  auto prepared = std::make_unique<PreparedMemory>(kernel.prepare->bytes, Placement::OnPage, kPoisonNaN);
  seconds =
      prepare_into(*prepared, loaded, *kernel.prepare, workspace == nullptr ? nullptr : workspace->data());
  return prepared;
}

double WorkerTask::prepare_into(PreparedMemory& prepared, const LoadedKernel& loaded, const PrepareStep& step,
                                void* workspace) const {
  prepared.unprotect();
  const double seconds =
      time_call({loaded.prepare(), timed_->prepare_pointers(step, prepared.data()), workspace, pool_.get()});
  prepared.protect();
  return seconds;
}

}  // namespace tunesmith
