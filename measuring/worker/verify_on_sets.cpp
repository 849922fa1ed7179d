#include "worker/verify_on_sets.h"

#include <array>
#include <atomic>
#include <exception>
#include <thread>

#include "tunesmith/support/error.h"
#include "tunesmith/support/monotonic_clock.h"
#include "worker/pool_threads.h"
#include "worker/time_kernel.h"

namespace tunesmith {
namespace {

/// Calls concurrent with the other thread's, each followed by a comparison. If other processes
/// use all processors, calls overlap only when a thread is interrupted; so long it waits.
constexpr int kTogetherCalls = 8;
constexpr double kTogetherSeconds = 5e-3;

/// Calls `work` with the number of each data set, each on its own thread.
template <typename Work>
void for_each_set(size_t sets, tunesmith_runtime_pool* pool, const Work& work) {
  tunesmith_runtime_parallel_for(
      pool, static_cast<int64_t>(sets),
      [](void* closure, int64_t begin, int64_t end) {
        for (int64_t set = begin; set < end; ++set)
          (*static_cast<const Work*>(closure))(static_cast<size_t>(set));
      },
      const_cast<void*>(static_cast<const void*>(&work)));
}

}  // namespace

std::vector<Verdict> verify_on_sets(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                    std::deque<DataSet>& sets, CallResources& resources, bool at_once) {
  const EveryThreadAtWork every_thread(resources.verifying_pool());
  GuardedBuffer* const space = resources.workspace(kernel.workspace_bytes);
  std::vector<Verdict> verdicts;
  if (!at_once) {
    for (DataSet& data : sets) {
      verdicts.push_back(verify_candidate(loaded, kernel, data, space, resources.verifying_pool()));
      if (verdicts.back().failure) break;
    }
    return verdicts;
  }
  verdicts.resize(sets.size());
  const std::array<GuardedBuffer*, 2> spaces{space, resources.second_workspace(kernel.workspace_bytes)};
  check_invariant(sets.size() == spaces.size(), "there is a workspace for each data set");
  std::array<std::exception_ptr, 2> thrown;  // by the target: no exception may leave a pool's thread
  for_each_set(sets.size(), resources.verifying_pool(), [&](size_t set) {
    try {
      verdicts[set] = verify_candidate(loaded, kernel, sets[set], spaces[set], nullptr);
    } catch (...) {  // it is rethrown
      thrown[set] = std::current_exception();
    }
  });
  for (const std::exception_ptr& exception : thrown)
    if (exception) std::rethrow_exception(exception);
  return verdicts;
}

std::optional<CandidateFailure> wrong_at_once(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                              std::deque<DataSet>& sets, CallResources& resources) {
  if (tunesmith_runtime_pool_threads(resources.verifying_pool()) < 2)
    return std::nullopt;  // the system has no more threads
  const EveryThreadAtWork every_thread(resources.verifying_pool());
  const std::array<GuardedBuffer*, 2> spaces{resources.workspace(kernel.workspace_bytes),
                                             resources.second_workspace(kernel.workspace_bytes)};
  std::atomic<int> ready = 0;
  std::array<std::atomic<bool>, 2> calling{};
  std::atomic<bool> done = false;
  std::array<std::optional<CandidateFailure>, 2> wrong;
  for_each_set(sets.size(), resources.verifying_pool(), [&](size_t set) {
    DataSet& data = sets[set];
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
    failure->message += "; called by two threads at once; it is correct when called sequentially";
    return failure;
  }
  return std::nullopt;
}

}  // namespace tunesmith
