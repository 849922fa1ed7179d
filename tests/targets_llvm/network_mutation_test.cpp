// Verification in place notices every mistake in networks and in their plans that changes anything.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph_mutations.h"
#include "lowered_program.h"
#include "operators_onnx/find_operator.h"
#include "plan_mutations.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/loaded_plan.h"
#include "tunesmith/network/pass.h"
#include "tunesmith/network/plain_kernels.h"
#include "tunesmith/network/plan_memory.h"
#include "tunesmith/network/verify_in_place.h"

namespace tunesmith {
namespace {

using network::LibraryPlan;
using network::Network;

constexpr int kInputDraws = 3;

/// A network with its plan, and the results of its calls.
class PlannedNetwork {
 public:
  PlannedNetwork(Network network, network::PlainKernels& kernels)
      : network_(std::move(network)),
        regions_(region_workloads(network_, form_regions(network_))),
        kernels_(kernels.of(network_, regions_)),
        plan_(plan_library(network_, kernels_, "net")) {}

  const Network& network() const { return network_; }
  const std::vector<network::NodeWorkload>& regions() const { return regions_; }
  const std::vector<network::RegionKernel>& kernels() const { return kernels_; }
  const LibraryPlan& plan() const { return plan_; }

 private:
  Network network_;
  std::vector<network::NodeWorkload> regions_;
  std::vector<network::RegionKernel> kernels_;
  LibraryPlan plan_;
};

using Bytes = std::vector<std::vector<std::byte>>;

/// The results of each step of a call, and then the call's outputs.
struct CallResults {
  Bytes steps;
  std::vector<Tensor> outputs;
};

CallResults call(const PlannedNetwork& planned, const LibraryPlan& plan, Target& target,
                 const std::vector<Tensor>& inputs) {
  network::LoadedPlan loaded(plan, target);
  CallResults results;
  std::vector<Tensor> given = inputs;
  for (const network::LibraryArgument& output : plan.outputs)
    results.outputs.push_back(Tensor::zeros(output.type.dtype, output.type.shape));
  std::vector<void*> data;
  for (std::vector<Tensor>* tensors : {&given, &results.outputs})
    for (Tensor& tensor : *tensors) data.push_back(tensor.bytes.data());
  loaded.run(data, [&](int step, void* const* buffers) {
    if (step < 0) return;
    const network::NodeWorkload& region = planned.regions()[static_cast<size_t>(step)];
    for (size_t i = 0; i < region.outputs.size(); ++i) {
      const auto* const bytes = static_cast<const std::byte*>(buffers[region.inputs.size() + i]);
      results.steps.push_back(load_from(*region.workload.program.outputs[i], bytes).bytes);
    }
  });
  return results;
}

/// May kernels of one be verified as those of the other: do their buffers have the same sizes?
bool same_buffers(const PlannedNetwork& a, const PlannedNetwork& b) {
  const auto sizes = [](const network::NodeWorkload& region) {
    std::vector<int64_t> all;
    for (const Buffer& input : region.workload.program.inputs) all.push_back(input->bytes());
    all.push_back(-1);
    for (const Buffer& output : region.workload.program.outputs) all.push_back(output->bytes());
    return all;
  };
  return std::ranges::equal(a.regions(), b.regions(), {}, sizes, sizes);
}

struct Noticed {
  int64_t in_place = 0, at_the_end = 0, harmless = 0, refused = 0;
};

std::vector<network::Shape> shapes_of(const std::vector<Tensor>& tensors) {
  std::vector<network::Shape> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(tensor.shape);
  return shapes;
}

/// A correct network, with inputs and results in f64.
struct Subject {
  explicit Subject(Network network, network::PlainKernels& kernels, Target& target)
      : original(std::move(network), kernels), verifier(original.network(), original.regions(), target) {
    for (uint64_t seed = 1; seed <= kInputDraws; ++seed) {
      draws.push_back(
          network::random_inputs(arguments_of(original.network(), original.network().inputs), 10 * seed));
      expected.push_back(evaluate(original.network(), draws.back()));
    }
  }

  PlannedNetwork original;
  network::PlaceVerifier verifier;
  std::vector<std::vector<Tensor>> draws, expected;
};

class NetworkMutations : public ::testing::Test {
 protected:
  static Network passed(Network network) {
    run_passes(network, {operators_onnx::find_operator, {}});
    return network;
  }

  void expect_original_right(const Subject& subject) {
    network::LoadedPlan loaded(subject.original.plan(), *target_);
    for (const std::vector<Tensor>& inputs : subject.draws) {
      const network::VerifiedCall call = subject.verifier.verify(loaded, inputs);
      for (const network::VerifiedStep& step : call.steps)
        for (const std::string& fault : step.faults) ADD_FAILURE() << step.name << " " << fault;
      ASSERT_TRUE(call.right()) << to_text(subject.original.network());
    }
  }

  void try_graph(const Subject& subject, const testing::GraphMutation& mutation) {
    Noticed& count = counts_[mutation.kind];
    std::unique_ptr<PlannedNetwork> changed;
    try {
      changed = std::make_unique<PlannedNetwork>(passed(mutation.network), kernels_);
    } catch (const UserError&) {
      ++count.refused;
      return;
    }
    std::vector<std::vector<Tensor>> computed;
    for (const std::vector<Tensor>& inputs : subject.draws)
      computed.push_back(evaluate(changed->network(), inputs));
    const bool in_place = same_buffers(subject.original, *changed);
    if (shapes_of(computed[0]) != shapes_of(subject.expected[0])) {
      ++count.refused;  // its results have other types or shapes
    } else if (computed == subject.expected) {
      ++count.harmless;  // equal in f64, to the bit
    } else if (in_place && is_noticed_in_place(subject, changed->plan())) {
      ++count.in_place;
    } else if (!in_place && is_noticed_at_the_end(subject, *changed)) {
      ++count.at_the_end;
    } else {
      accept(subject, mutation.kind, mutation.what);
    }
  }

  void try_plan(const Subject& subject, const testing::PlanMutation& mutation) {
    Noticed& count = counts_[mutation.kind];
    const auto computes_the_same = [&](const std::vector<Tensor>& inputs) {
      const PlannedNetwork& original = subject.original;
      return call(original, mutation.plan, *target_, inputs).steps ==
             call(original, original.plan(), *target_, inputs).steps;
    };
    if (is_noticed_in_place(subject, mutation.plan)) {
      ++count.in_place;
    } else if (mutation.kind == "stale preparation" &&
               std::ranges::all_of(subject.draws, computes_the_same)) {
      ++count.harmless;  // changes padding, or a factor of zero
    } else {
      accept(subject, mutation.kind, mutation.what);
    }
  }

  bool is_noticed_in_place(const Subject& subject, const LibraryPlan& plan) {
    network::LoadedPlan loaded(plan, *target_);
    return std::ranges::any_of(subject.draws, [&](const std::vector<Tensor>& inputs) {
      try {
        return !subject.verifier.verify(loaded, inputs).right();
      } catch (const UserError&) {  // the library has other steps
        return true;
      }
    });
  }

  /// For these operators, f32 keeps at least four digits here.
  bool is_noticed_at_the_end(const Subject& subject, const PlannedNetwork& changed) {
    for (size_t draw = 0; draw < subject.draws.size(); ++draw) {
      const CallResults results = call(changed, changed.plan(), *target_, subject.draws[draw]);
      for (size_t i = 0; i < results.outputs.size(); ++i) {
        const Tensor &found = results.outputs[i], &wanted = subject.expected[draw][i];
        for (int64_t j = 0; j < found.elements(); ++j)
          if (!(std::abs(found.get(j) - wanted.get(j)) <= 1e-4 * (1 + std::abs(wanted.get(j))))) return true;
      }
    }
    return false;
  }

  void accept(const Subject& subject, const std::string& kind, const std::string& what) {
    accepted_.push_back(kind + ", " + what + " of\n" + to_text(subject.original.network()));
  }

  std::unique_ptr<llvm_target::LlvmTarget> target_ = testing::make_target();
  network::PlainKernels kernels_{*target_};
  std::map<std::string, Noticed> counts_;
  std::vector<std::string> accepted_;
};

/// Prints the counts; returns how many are noticed.
int64_t print_counts(const std::map<std::string, Noticed>& counts) {
  Noticed all;
  std::cout << "kind                       in place  at the end  computes the same  refused\n";
  const auto print = [](const std::string& kind, const Noticed& count) {
    std::cout << fmt::format("{:25}  {:8}  {:10}  {:17}  {:7}\n", kind, count.in_place, count.at_the_end,
                             count.harmless, count.refused);
  };
  for (const auto& [kind, count] : counts) {
    print(kind, count);
    all.in_place += count.in_place;
    all.at_the_end += count.at_the_end;
    all.harmless += count.harmless;
    all.refused += count.refused;
  }
  print("all", all);
  return all.in_place + all.at_the_end;
}

/// Plans in which a kernel takes a part of a tensor for an array without gaps.
std::vector<testing::PlanMutation> stride_mutations(const PlannedNetwork& planned,
                                                    network::PlainKernels& kernels) {
  std::vector<testing::PlanMutation> made;
  const std::vector<network::Region> regions = form_regions(planned.network());
  for (size_t step = 0; step < regions.size(); ++step) {
    std::vector<network::TensorIndex> all = planned.regions()[step].inputs;
    all.insert(all.end(), planned.regions()[step].outputs.begin(), planned.regions()[step].outputs.end());
    for (const network::TensorIndex index : all) {
      Network changed = planned.network();
      network::Tensor& tensor = changed.tensors[static_cast<size_t>(index)];
      if (!tensor.part) continue;
      tensor.part.reset();
      const network::NodeWorkload wrong = workload_of(changed, regions[step].nodes, regions[step].results);
      if (wrong.workload.hash == planned.regions()[step].workload.hash) continue;
      const CompiledKernel& kernel = kernels.of(wrong.workload);
      LibraryPlan plan = planned.plan();
      plan.steps[step].kernel = &kernel;
      // Puts its workspace behind all others.
      plan.steps[step].workspace = plan.arena_bytes;
      plan.arena_bytes += network::align_up(kernel.workspace_bytes);
      made.push_back({"stride of an array without gaps", fmt::format("step {}, {}", step, tensor.name),
                      std::move(plan), nullptr});
    }
  }
  return made;
}

TEST_F(NetworkMutations, NoneIsAccepted) {
  for (const Network& graph : testing::networks_to_mutate()) {
    const Subject subject(passed(graph), kernels_, *target_);
    expect_original_right(subject);
    for (const testing::GraphMutation& mutation : testing::graph_mutations(graph))
      try_graph(subject, mutation);
    const PlannedNetwork& original = subject.original;
    const testing::PlanMutations mutations =
        testing::plan_mutations(original.network(), original.kernels(), original.plan());
    counts_["lifetimes"].harmless += mutations.harmless;
    for (const testing::PlanMutation& mutation : mutations.wrong) try_plan(subject, mutation);
    for (const testing::PlanMutation& mutation : stride_mutations(original, kernels_))
      try_plan(subject, mutation);
  }
  EXPECT_GE(print_counts(counts_), 500);
  EXPECT_TRUE(accepted_.empty()) << accepted_.size() << " are accepted, such as " << accepted_.front();
}

}  // namespace
}  // namespace tunesmith
