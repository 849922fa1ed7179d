#include "worker/timed_calls.h"

namespace tunesmith {

KernelCall timed_call(LoadedKernel& loaded, const CompiledKernel& kernel, const ArgumentMemory& timed,
                      const PreparedMemory* prepared, const GuardedBuffer* workspace,
                      tunesmith_runtime_pool* pool) {
  return {loaded.entry(), timed.kernel_pointers(kernel, prepared == nullptr ? nullptr : prepared->data()),
          workspace == nullptr ? nullptr : workspace->data(), pool, &loaded};
}

double prepare_into(PreparedMemory& prepared, const LoadedKernel& loaded, const PrepareStep& step,
                    const ArgumentMemory& timed, void* workspace, tunesmith_runtime_pool* pool) {
  prepared.unprotect();
  const double seconds =
      time_call({loaded.prepare(), timed.prepare_pointers(step, prepared.data()), workspace, pool});
  prepared.protect();
  return seconds;
}

std::unique_ptr<PreparedMemory> prepare(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                        const ArgumentMemory& timed, const GuardedBuffer* workspace,
                                        tunesmith_runtime_pool* pool, double& seconds) {
  if (!kernel.prepare) return nullptr;
  auto prepared = std::make_unique<PreparedMemory>(kernel.prepare->bytes, Placement::OnPage, kPoisonNaN);
  seconds = prepare_into(*prepared, loaded, *kernel.prepare, timed,
                         workspace == nullptr ? nullptr : workspace->data(), pool);
  return prepared;
}

}  // namespace tunesmith
