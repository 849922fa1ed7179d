#include "tunesmith/network/test_case.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/lower/lower.h"
#include "tunesmith/network/counted_outputs.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/pass.h"
#include "tunesmith/network/read_network.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/files.h"
#include "tunesmith/verification/npy.h"

namespace tunesmith::network {
namespace {

namespace fs = std::filesystem;
using GivenTensors = std::vector<std::shared_ptr<const Constant>>;

std::shared_ptr<const Constant> read_value(const Importer& importer, const fs::path& path) {
  if (path.extension() == ".npy") {
    const auto owner = std::make_shared<const tunesmith::Tensor>(read_npy(path));
    return std::make_shared<Constant>(Constant{owner->dtype, owner->shape, owner->bytes, owner});
  }
  const std::string bytes = read_whole_file(path);
  try {
    return importer.read_tensor(std::as_bytes(std::span(bytes)));
  } catch (const UserError& error) {
    throw UserError(SourceLocation{path.string()}, error.what());
  }
}

/// `name`: of the first file, with {} for its number: "input_{}.npy".
GivenTensors read_values(const Importer& importer, const fs::path& data_set, const std::string& name) {
  GivenTensors values;
  for (;;) {
    const fs::path path = data_set / fmt::format(fmt::runtime(name), values.size());
    if (!fs::exists(path)) return values;
    values.push_back(read_value(importer, path));
  }
}

/// ONNX's own tests store bf16 as u16 with the same bits.
std::shared_ptr<const Constant> as_declared(std::shared_ptr<const Constant> value,
                                            std::optional<DType> declared) {
  if (declared != kBF16 || value->dtype != kU16) return value;
  auto made = std::make_shared<Constant>(*value);
  made->dtype = kBF16;
  return made;
}

void set_type(Tensor& tensor, const Constant& value) {
  tensor.dtype = value.dtype;
  tensor.shape = std::vector<Extent>(value.shape.begin(), value.shape.end());
}

/// The network for inputs of these shapes. Inputs whose values must be known become constants; `inputs` keeps
/// the others.
Network prepared(const ReadNetwork& read, GivenTensors& inputs) {
  Network given = read.network;
  if (given.inputs.size() != inputs.size())
    throw UserError(fmt::format("the model takes {} inputs, but the data set has {}", given.inputs.size(),
                                inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor& input = given.tensor(given.inputs[i]);
    inputs[i] = as_declared(inputs[i], input.dtype);
    set_type(input, *inputs[i]);
  }
  const PassOptions options{
      [&](std::string_view op, int64_t version) { return read.importer->find_operator(op, version); }, {}};
  for (;;) {
    Network network = given;
    try {
      run_passes(network, options);
      return network;
    } catch (const UnknownValues& unknown) {
      const auto found = std::ranges::find(given.inputs, unknown.tensor());
      const auto position = found - given.inputs.begin();
      given.tensor(unknown.tensor()).constant = inputs[static_cast<size_t>(position)];
      given.inputs.erase(found);
      inputs.erase(inputs.begin() + position);
    }
  }
}

/// The tolerance for floats: a thousandth of the expected value, or some units in the last place if these are
/// more, as for f16 and bf16; plus an absolute value.
struct Tolerance {
  double absolute;
  double units;

  double relative_of(DType dtype) const { return std::max(1e-3, units * 2 * unit_roundoff(dtype)); }
  /// A sum near zero keeps the rounding errors of its terms.
  double absolute_of(const tunesmith::Tensor& expected) const {
    double largest = 0;
    for (int64_t i = 0; expected.dtype.is_float() && i < expected.elements(); ++i)
      if (const double value = std::abs(expected.get(i)); std::isfinite(value))
        largest = std::max(largest, value);
    return absolute + units * unit_roundoff(expected.dtype) * largest;
  }
};

/// Negative zero equals positive zero.
int64_t without_sign_of_zero(Code code, int64_t byte) {
  const bool has_sign = code == Code::F8E4M3Fn || code == Code::F8E5M2 || code == Code::F4E2M1;
  return has_sign && byte == (code == Code::F4E2M1 ? 0x8 : 0x80) ? 0 : byte;
}

bool agrees(const tunesmith::Tensor& found, const tunesmith::Tensor& expected, int64_t position,
            double absolute, double relative, Code code) {
  if (!expected.dtype.is_float())
    return without_sign_of_zero(code, found.get_int(position)) ==
           without_sign_of_zero(code, expected.get_int(position));
  const double wanted = expected.get(position);
  const double value = round_to(expected.dtype, found.get(position));
  if (std::isnan(wanted) || std::isnan(value)) return std::isnan(wanted) && std::isnan(value);
  return value == wanted || std::abs(value - wanted) <= absolute + relative * std::abs(wanted);
}

/// What is wrong with an output, or nothing. `type` and `code`: those of the network's output.
std::string difference(const tunesmith::Tensor& found, DType type, Code code,
                       const tunesmith::Tensor& expected, const Tolerance& tolerance) {
  if (type != expected.dtype)
    return fmt::format("its type is {}, expected {}", type.str(), expected.dtype.str());
  if (found.shape != expected.shape)
    return fmt::format("its shape is [{}], expected [{}]", fmt::join(found.shape, ", "),
                       fmt::join(expected.shape, ", "));
  const double absolute = tolerance.absolute_of(expected), relative = tolerance.relative_of(expected.dtype);
  for (int64_t i = 0; i < expected.elements(); ++i)
    if (!agrees(found, expected, i, absolute, relative, code))
      return fmt::format("element {} is {}, expected {}", i, found.get(i), expected.get(i));
  return {};
}

/// What is wrong with the outputs, or nothing.
std::string difference_of(const Network& network, const std::vector<tunesmith::Tensor>& found,
                          const GivenTensors& expected, const Tolerance& tolerance) {
  if (found.size() != expected.size())
    throw UserError(fmt::format("the model has {} outputs, the data set {}", found.size(), expected.size()));
  for (size_t i = 0; i < found.size(); ++i) {
    const Tensor& output = network.tensor(network.outputs[i]);
    // ONNX's own tests that store bf16 as u16 truncate the numbers instead of rounding them.
    if (output.dtype == kBF16 && expected[i]->dtype == kU16)
      throw UserError("the expected values of a bf16 output are stored as u16");
    const std::string wrong = difference(found[i], output.dtype.value_or(found[i].dtype), output.code,
                                         to_tensor(*expected[i]), tolerance);
    if (!wrong.empty()) return fmt::format("output '{}': {}", output.name, wrong);
  }
  return {};
}

struct DataSet {
  fs::path folder;
  std::string inputs, outputs;  ///< file names, with {} for the number
  Tolerance tolerance;
};

/// ONNX's data sets, and NumPy's tensors beside the model.
std::vector<DataSet> data_sets_in(const fs::path& folder) {
  std::vector<DataSet> sets;
  for (fs::path set; fs::exists(set = folder / fmt::format("test_data_set_{}", sets.size()));)
    sets.push_back({set, "input_{}.pb", "output_{}.pb", {1e-7, 2}});
  if (fs::exists(folder / "expected_0.npy"))
    sets.push_back({folder, "input_{}.npy", "expected_{}.npy", {1e-5, 4}});
  return sets;
}

TestOutcome run_data_set(const ReadNetwork& read, const DataSet& set,
                         const std::vector<ComputeNetwork>& ways) {
  GivenTensors inputs = read_values(*read.importer, set.folder, set.inputs);
  const GivenTensors expected = read_values(*read.importer, set.folder, set.outputs);
  const Network network = prepared(read, inputs);
  std::vector<tunesmith::Tensor> given;
  given.reserve(inputs.size());
  for (const auto& input : inputs) given.push_back(to_tensor(*input));
  std::string wrong;
  for (const ComputeNetwork& compute : ways) {
    wrong = difference_of(network, cut_to_counts(network.counted, compute(network, given)), expected,
                          set.tolerance);
    if (wrong.empty()) return {};
  }
  return {TestResult::Wrong, "", "an output is wrong",
          fmt::format("{}: {}", set.folder.filename().string(), wrong)};
}

/// The cause in an error message without names: for the first fault, the text after the last name.
std::string cause_in(const std::string& message) {
  const size_t begin = message.find("faults:\n");
  std::string line = message.substr(begin == std::string::npos ? 0 : begin + 8);
  line = line.substr(0, line.find('\n', 1));
  for (const std::string_view end : {".pb: ", "': "})
    if (const size_t name = line.rfind(end); name != std::string::npos) line = line.substr(name + end.size());
  return line.substr(0, line.find(';'));
}

}  // namespace

std::vector<fs::path> find_tests(const std::vector<std::string>& folders) {
  std::vector<fs::path> found;
  for (const std::string& folder : folders) {
    const size_t before = found.size();
    std::error_code error;
    if (fs::exists(fs::path(folder) / "model.onnx")) found.emplace_back(folder);
    for (fs::recursive_directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error))
      if (each->is_directory() && fs::exists(each->path() / "model.onnx")) found.push_back(each->path());
    if (error) throw UserError(SourceLocation{folder}, error.message());
    if (found.size() == before) throw UserError(SourceLocation{folder}, "no folder with a model.onnx found");
  }
  std::ranges::sort(found);
  return found;
}

TestOutcome run_test(PluginRegistry& registry, const fs::path& folder,
                     const std::vector<ComputeNetwork>& ways, const std::vector<std::string>& operators) {
  try {
    const ReadNetwork read = read_network(registry, folder / "model.onnx", operators);
    const std::vector<DataSet> sets = data_sets_in(folder);
    if (sets.empty())
      return {TestResult::Refused, "", "no test data", "expected test_data_set_0 or expected_0.npy"};
    for (const DataSet& set : sets)
      if (TestOutcome outcome = run_data_set(read, set, ways); outcome.result != TestResult::Passed)
        return outcome;
    return {};
  } catch (const RefusedNodes& error) {
    const Refusal& first = error.refusals().front();
    return {TestResult::Refused, first.op, first.what, error.what()};
  } catch (const UserError& error) {
    return {TestResult::Refused, "", cause_in(error.what()), error.what()};
  } catch (const LowerError& error) {
    return {TestResult::Refused, "", "the target requires a schedule", error.what()};
  } catch (const EnvironmentError&) {
    throw;
  } catch (const Error& error) {
    return {TestResult::Wrong, "", "internal error", error.what()};
  }
}

}  // namespace tunesmith::network
