// One test of ONNX's format: a folder with model.onnx and test_data_set_N/{input,output}_K.pb; or with
// input_K.npy and expected_K.npy beside the model.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <tunesmith/network/network.h>
#include <tunesmith/plugin/registry.h>
#include <tunesmith/verification/tensor.h>

namespace tunesmith::cli {

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
    std::function<std::vector<Tensor>(const network::Network&, const std::vector<Tensor>&)>;

/// Computes the model on each of the test's data sets and compares the outputs as ONNX does: integers and
/// bools must be equal, floats may be off by 1e-7 (of NumPy's files 1e-5) and a thousandth. One of `ways`
/// must agree; the next is taken where one does not. Inputs whose values an operator needs ahead, such as
/// shapes, are made constant. Never throws UserError: what is refused is an outcome.
TestOutcome run_test(PluginRegistry& registry, const std::filesystem::path& folder,
                     const std::vector<ComputeNetwork>& ways);

}  // namespace tunesmith::cli
