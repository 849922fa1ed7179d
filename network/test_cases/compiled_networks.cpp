#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/network/built_library.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/loaded_plan.h"
#include "tunesmith/network/plain_kernels.h"
#include "tunesmith/network/test_case.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/files.h"
#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith::network {
namespace {

/// The outputs of a call on memory that ends at guard pages.
std::vector<tunesmith::Tensor> called(RunnableNetwork& runnable, const std::vector<tunesmith::Tensor>& given,
                                      const std::vector<LibraryArgument>& results) {
  std::vector<tunesmith::Tensor> outputs;
  for (const LibraryArgument& result : results)
    outputs.push_back(tunesmith::Tensor::zeros(result.type.dtype, result.type.shape));
  std::vector<GuardedBuffer> memory;
  std::vector<void*> data;
  for (const std::vector<tunesmith::Tensor>* const tensors : {&given, &std::as_const(outputs)}) {
    for (const tunesmith::Tensor& tensor : *tensors) {
      memory.emplace_back(std::ssize(tensor.bytes), tensor.dtype.bytes());
      std::ranges::copy(tensor.bytes, memory.back().data());
      if (tensors == &given) memory.back().set_read_only(true);
      data.push_back(memory.back().data());
    }
  }
  runnable.run(data);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const GuardedBuffer& buffer = memory[given.size() + i];
    if (!buffer.check_canary())
      throw Error(fmt::format("memory before the output '{}' was written", results[i].name));
    std::copy_n(buffer.data(), outputs[i].bytes.size(), outputs[i].bytes.begin());
  }
  return outputs;
}

class Compiled {
 public:
  Compiled(Target& target, Packaging* packaging) : target_(target), packaging_(packaging), kernels_(target) {}

  std::vector<tunesmith::Tensor> compute(const Network& network,
                                         const std::vector<tunesmith::Tensor>& given) {
    const std::vector<RegionKernel> regions =
        kernels_.of(network, region_workloads(network, form_regions(network)));
    const LibraryPlan plan = plan_library(network, regions, "network");
    if (packaging_ == nullptr) {
      LoadedPlan loaded(plan, target_);
      return called(loaded, given, plan.outputs);
    }
    const ScratchFolder folder = ScratchFolder::temporary();
    write_library(plan, *packaging_, folder.path().string());
    BuiltLibrary library(folder.path(), facts_of(plan));
    return called(library, given, plan.outputs);
  }

 private:
  Target& target_;
  Packaging* const packaging_;  // null: run the plan in this process
  PlainKernels kernels_;
};

}  // namespace

ComputeNetwork compiled_networks(Target& target, Packaging* packaging) {
  const auto compiled = std::make_shared<Compiled>(target, packaging);
  return [compiled](const Network& network, const std::vector<tunesmith::Tensor>& given) {
    return compiled->compute(network, given);
  };
}

}  // namespace tunesmith::network
