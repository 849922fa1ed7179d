// Verification in place, by teacher forcing: each step of a network's call is compared with what it must make
// of what the library itself gave it, so that no error adds to another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/runnable.h"
#include "tunesmith/network/write_library.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/tensor.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// What was found of one step.
struct VerifiedStep {
  std::string name;
  bool interpreted = false;  ///< the reference, else compiled
  /// It is beyond the bound of the task, which takes roundings to be independent, and is compared with one
  /// that does not: in a network whole channels may be equal, and their roundings go one way.
  bool any_values = false;
  /// Its bounds on what the network gives it are above kLoosest (data_sets.h), and it is compared on data
  /// that are drawn for it, as those of tasks are.
  bool drawn = false;
  int64_t elements = 0;             ///< compared
  double worst = 0;                 ///< the largest error over its bound; above 1 is wrong
  double looseness = 0;             ///< of its bounds (verify_outputs.h): the largest of its results'
  std::vector<std::string> faults;  ///< empty where it is right
};

struct VerifiedCall {
  std::vector<VerifiedStep> steps;
  std::vector<std::string> faults;  ///< of the call as a whole: its arguments before and after
  bool right() const;
};

/// The references of a network's regions. Used by one thread.
///
/// A step's results are compared with the reference of its workload (reference.h) with the bound that its
/// programs are verified with when they are tuned, or else with that of any values, on the step's own inputs
/// and the network's constants. Where these bounds are useless, the step is given data that are drawn for it,
/// in a second call in which all others find what they found in the first; a step for which there are none is
/// not right. A tensor must have the same bits at each step that reads it, and at the end
/// of the call, as when it was computed; constants those of the network. References with few operations are
/// interpreted, so that they owe nothing to the code generator; others are compiled by the target in the
/// order as written.
class PlaceVerifier {
 public:
  /// `network` and `regions`, in the order of their calls, must live as long. `max_interpreted`: operations
  /// of a reference. Compiles; throws EnvironmentError where that fails.
  PlaceVerifier(const Network& network, std::span<const NodeWorkload> regions, Target& target,
                int64_t max_interpreted = int64_t{1} << 16);
  ~PlaceVerifier();
  PlaceVerifier(const PlaceVerifier&) = delete;
  PlaceVerifier& operator=(const PlaceVerifier&) = delete;

  /// Calls the network on these inputs, in the network's types, and again where steps need other data.
  /// `after`: told of each step of the first call. A step's
  /// reference is not computed once a tensor that it reads is not what it was. Throws UserError for a network
  /// of other steps.
  VerifiedCall verify(RunnableNetwork& runnable, std::span<const tunesmith::Tensor> inputs,
                      const std::function<void(int step, const VerifiedStep&)>& after = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Floats in [-1, 1); integers from 0 to below `integers`, which are indices of anything where that is 2;
/// bools even. The same on every machine.
std::vector<tunesmith::Tensor> random_inputs(std::span<const LibraryArgument> inputs, uint64_t seed,
                                             int64_t integers = 2);

}  // namespace tunesmith::network
#pragma GCC visibility pop
