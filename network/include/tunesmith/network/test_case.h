// Tests of ONNX's format: a folder with model.onnx and test_data_set_N/{input,output}_K.pb; or with
// input_K.npy and expected_K.npy beside the model. What `tunesmith network test` runs.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/target/packaging.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/tensor.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

enum class TestResult { Passed, Refused, Wrong };

struct TestOutcome {
  TestResult result = TestResult::Passed;
  std::string op;       ///< of a refusal, the operator that is refused; else empty
  std::string cause;    ///< of a refusal or a mistake, in a few words without names of nodes
  std::string message;  ///< all that was said
};

/// The folders below these, these included, that have a model.onnx, sorted. Throws UserError where there is
/// none.
std::vector<std::filesystem::path> find_tests(const std::vector<std::string>& folders);

/// The outputs of a network for these inputs, on which all passes have run. Throws UserError for what it
/// refuses.
using ComputeNetwork =
    std::function<std::vector<tunesmith::Tensor>(const Network&, const std::vector<tunesmith::Tensor>&)>;

/// Plans a network as a built library is planned, with kernels of the target that have no schedule, and calls
/// it on memory that ends at guard pages: the planned steps in this process, or, with `packaging`, the
/// library that is written. Both must outlive it; what it answers belongs to one thread, and may crash: the
/// target's code runs in this process.
ComputeNetwork compiled_networks(Target& target, Packaging* packaging);

/// Computes the model on each of the test's data sets and compares the outputs as ONNX does: integers and
/// bools must be equal, floats may be off by 1e-7 (of NumPy's files 1e-5) and a thousandth. One of `ways`
/// must agree; the next is taken where one does not. Inputs whose values an operator needs ahead, such as
/// shapes, are made constant. Never throws UserError: what is refused is an outcome.
/// `operators`: as read_network has them.
TestOutcome run_test(PluginRegistry& registry, const std::filesystem::path& folder,
                     const std::vector<ComputeNetwork>& ways, const std::vector<std::string>& operators = {});

}  // namespace tunesmith::network
#pragma GCC visibility pop
