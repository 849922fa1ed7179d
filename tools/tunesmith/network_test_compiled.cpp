#include "network_test_compiled.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <tunesmith/network/built_library.h>
#include <tunesmith/network/loaded_plan.h>
#include <tunesmith/network/plain_kernels.h>
#include <tunesmith/verification/guarded_buffer.h>

#include "scratch_folder.h"

namespace tunesmith::cli {
namespace {

using network::LibraryArgument;
using network::Network;

/// The outputs of a call on memory that ends at guard pages.
std::vector<Tensor> called(network::RunnableNetwork& runnable, const std::vector<Tensor>& given,
                           const std::vector<LibraryArgument>& results) {
  std::vector<Tensor> outputs;
  for (const LibraryArgument& result : results)
    outputs.push_back(Tensor::zeros(result.type.dtype, result.type.shape));
  std::vector<GuardedBuffer> memory;
  std::vector<void*> data;
  for (const std::vector<Tensor>* const tensors : {&given, &std::as_const(outputs)}) {
    for (const Tensor& tensor : *tensors) {
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
      throw Error(fmt::format("what lies before the output '{}' was written", results[i].name));
    std::copy_n(buffer.data(), outputs[i].bytes.size(), outputs[i].bytes.begin());
  }
  return outputs;
}

class Compiled {
 public:
  Compiled(std::unique_ptr<Space> space, bool build)
      : space_(std::move(space)), kernels_(space_->target()), build_(build) {
    if (build && space_->target().packaging() == nullptr)
      throw UserError(fmt::format("the target of space '{}' builds no libraries", space_->spec().name),
                      "choose a space of another target with --space");
  }

  std::vector<Tensor> compute(const Network& network, const std::vector<Tensor>& given) {
    const std::vector<network::RegionKernel> regions =
        kernels_.of(network, region_workloads(network, form_regions(network)));
    const network::LibraryPlan plan = plan_library(network, regions, "network");
    if (!build_) {
      network::LoadedPlan loaded(plan, space_->target());
      return called(loaded, given, plan.outputs);
    }
    const ScratchFolder folder = ScratchFolder::temporary();
    write_library(plan, *space_->target().packaging(), folder.path().string());
    network::BuiltLibrary library(folder.path(), facts_of(plan));
    return called(library, given, plan.outputs);
  }

 private:
  std::unique_ptr<Space> space_;
  network::PlainKernels kernels_;
  bool build_;
};

}  // namespace

ComputeNetwork compiled_networks(std::unique_ptr<Space> space, bool build) {
  const auto compiled = std::make_shared<Compiled>(std::move(space), build);
  return [compiled](const Network& network, const std::vector<Tensor>& given) {
    return compiled->compute(network, given);
  };
}

}  // namespace tunesmith::cli
