// Verification in place, by teacher forcing: compares each step of a call with a reference on the inputs that
// the library itself gave the step, so that errors do not accumulate.
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

/// The result for one step.
struct VerifiedStep {
  std::string name;
  bool interpreted = false;  ///< the reference is interpreted, else compiled
  /// The step exceeded the bound that its task is verified with, which assumes independent roundings, and was
  /// compared with the bound without that assumption: in a network whole channels may be equal, and their
  /// roundings correlate.
  bool any_values = false;
  /// The bounds on the network's own data exceeded kLoosest (data_sets.h), so the step was compared on data
  /// drawn for it, as in its task's verification.
  bool drawn = false;
  int64_t elements = 0;  ///< number of elements compared
  double worst = 0;      ///< the largest error divided by its bound; above 1 is wrong
  double looseness = 0;  ///< the looseness of its bounds (verify_outputs.h), the largest of its results
  std::vector<std::string> faults;  ///< empty if the step is right
};

struct VerifiedCall {
  std::vector<VerifiedStep> steps;
  std::vector<std::string> faults;  ///< of the whole call: its arguments before and after
  bool right() const;
};

/// The references of a network's regions. Not thread-safe.
///
/// Compares a step's results with the reference of its workload (reference.h), on the step's own inputs and
/// the network's constants, with the bound of its task's verification, or else with the bound for any values.
/// If these bounds are too loose, the step gets data drawn for it, in a second call in which all other steps
/// find the data of the first; a step without such data counts as wrong. A tensor must have the same bits at
/// each step that reads it, and at the end of the call, as when it was computed; constants must have those of
/// the network. References with few operations are interpreted, independently of the code generator; the
/// target compiles others in the order as written.
class PlaceVerifier {
 public:
  /// `network` and `regions`, in the order of their calls, must outlive the object. `max_interpreted`: the
  /// maximum number of operations of an interpreted reference. Throws EnvironmentError if compiling fails.
  PlaceVerifier(const Network& network, std::span<const NodeWorkload> regions, Target& target,
                int64_t max_interpreted = int64_t{1} << 16);
  ~PlaceVerifier();
  PlaceVerifier(const PlaceVerifier&) = delete;
  PlaceVerifier& operator=(const PlaceVerifier&) = delete;

  /// Calls the network on these inputs, of the network's types, and again if steps need other data. Calls
  /// `after` for each step of the first call. Skips a step's reference if a tensor that it reads has changed.
  /// Throws UserError for a network with other steps.
  VerifiedCall verify(RunnableNetwork& runnable, std::span<const tunesmith::Tensor> inputs,
                      const std::function<void(int step, const VerifiedStep&)>& after = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Floats in [-1, 1); integers in [0, `integers`), valid as any index if that is 2; bools with equal
/// probability. The same on every machine.
std::vector<tunesmith::Tensor> random_inputs(std::span<const LibraryArgument> inputs, uint64_t seed,
                                             int64_t integers = 2);

}  // namespace tunesmith::network
#pragma GCC visibility pop
