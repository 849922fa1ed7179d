// Tests in ONNX's format, for `tunesmith network test`: a folder with model.onnx and
// test_data_set_N/{input,output}_K.pb, or with input_K.npy and expected_K.npy beside the model.
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
  std::string op;       ///< if refused: the refused operator; else empty
  std::string cause;    ///< if refused or wrong: a few words without names of nodes
  std::string message;  ///< the whole message
};

/// These folders and those below them that have a model.onnx, sorted. Throws UserError if there is none.
std::vector<std::filesystem::path> find_tests(const std::vector<std::string>& folders);

/// Computes the outputs of a network, on which all passes have run, for these inputs. Throws UserError if the
/// network is refused.
using ComputeNetwork =
    std::function<std::vector<tunesmith::Tensor>(const Network&, const std::vector<tunesmith::Tensor>&)>;

/// Plans the network like a built library, with unscheduled kernels of the target, and calls it on memory
/// that ends at guard pages: the planned steps in this process, or, with `packaging`, the written library.
/// `target` and `packaging` must outlive the result, which one thread may use. It may crash, because the
/// target's code runs in this process.
ComputeNetwork compiled_networks(Target& target, Packaging* packaging);

/// Computes the model on each of the test's data sets and compares the outputs as ONNX does: integers and
/// bools must be equal; floats may differ by 1e-7 (NumPy's files: 1e-5) plus a thousandth. One of `ways` must
/// agree; they are tried in order. Inputs whose values an operator needs in advance, such as shapes, become
/// constants. Never throws UserError: a refusal is an outcome. `operators`: as for read_network.
TestOutcome run_test(PluginRegistry& registry, const std::filesystem::path& folder,
                     const std::vector<ComputeNetwork>& ways, const std::vector<std::string>& operators = {});

}  // namespace tunesmith::network
#pragma GCC visibility pop
