// `network run`: a built library on files or random inputs.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/ir/extents.h>
#include <tunesmith/network/counted_outputs.h>
#include <tunesmith/network/evaluate.h>
#include <tunesmith/network/importer.h>
#include <tunesmith/network/library_description.h>
#include <tunesmith/network/verify_in_place.h>
#include <tunesmith/support/files.h>
#include <tunesmith/verification/npy.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "tasks.h"

namespace tunesmith::cli {
namespace {

namespace fs = std::filesystem;
using network::LibraryArgument;

/// Asks each importer until one reads the file.
Tensor read_tensor(PluginRegistry& registry, const fs::path& path) {
  const std::string bytes = read_whole_file(path);
  std::vector<std::string> refusals;
  for (const PluginInfo& info : registry.list(PluginKind::Importer)) {
    const auto importer = registry.create<Importer>(
        info.id,
        Options::defaults(registry.option_specs(info.kind, info.id), plugin_name(info.kind, info.id)));
    try {
      return network::to_tensor(*importer->read_tensor(std::as_bytes(std::span(bytes))));
    } catch (const UserError& error) {
      refusals.push_back(fmt::format("{}: {}", info.id, error.what()));
    }
  }
  throw UserError(SourceLocation{path.string()},
                  fmt::format("no importer can read a tensor from it: {}", fmt::join(refusals, "; ")));
}

std::string type_text(const network::TensorType& type) {
  return fmt::format("{} [{}]", type.dtype.str(), fmt::join(type.shape, ", "));
}

Tensor read_input(PluginRegistry& registry, const fs::path& path) {
  return path.extension() == ".npy" ? read_npy(path) : read_tensor(registry, path);
}

void require_type(const Tensor& tensor, const fs::path& path, const LibraryArgument& argument) {
  if (tensor.dtype != argument.type.dtype || tensor.shape != argument.type.shape)
    throw UserError(SourceLocation{path.string()},
                    fmt::format("it is {}, but input '{}' is {}", type_text({tensor.dtype, tensor.shape}),
                                argument.name, type_text(argument.type)));
}

/// Reads the values of varying extents off the inputs' shapes.
std::vector<int64_t> values_in(const network::LibraryDescription& description,
                               const std::vector<Tensor>& inputs) {
  std::vector<int64_t> values = highest_values(network::parameters_of(description.varying));
  for (size_t extent = 0; extent < values.size(); ++extent) {
    const auto [input, axis] = network::place_of_extent(description.inputs, description.varying, extent);
    if (axis < inputs[input].shape.size())
      values[extent] =
          std::clamp(inputs[input].shape[axis], description.varying[extent].range.lowest, values[extent]);
  }
  return values;
}

double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.elements(); ++i) largest = std::max(largest, std::abs(tensor.get(i)));
  return largest;
}

/// Writes the outputs into the folder, if it is named, and prints them unless `quiet`.
nlohmann::json written(const network::LibraryDescription& description, const std::vector<Tensor>& outputs,
                       const std::string& folder, bool quiet) {
  nlohmann::json list = nlohmann::json::array();
  if (!folder.empty()) fs::create_directories(folder);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string& name = description.outputs[i].name;
    std::string file;
    if (!folder.empty()) {
      file = (fs::path(folder) / fmt::format("output_{}.npy", i)).string();
      write_npy(file, outputs[i]);
    }
    if (!quiet)
      fmt::print(cli::output(), "{}: {}, the largest magnitude {:.6g}{}\n", name,
                 type_text({outputs[i].dtype, outputs[i].shape}), largest_of(outputs[i]),
                 file.empty() ? "" : " -> " + file);
    list.push_back(
        {{"name", name}, {"type", outputs[i].dtype.str()}, {"shape", outputs[i].shape}, {"file", file}});
  }
  return list;
}

}  // namespace

int run_network_run(const Common& common, const NetworkRunArguments& arguments) {
  Session session(common);
  const network::LibraryDescription description = network::read_description(arguments.folder);
  if (!arguments.inputs.empty() && arguments.inputs.size() != description.inputs.size())
    throw UserError(fmt::format("the network takes {} inputs, found {} files", description.inputs.size(),
                                arguments.inputs.size()),
                    "give one file for each input in the header's order, or none for random inputs");
  std::vector<Tensor> inputs;
  for (const std::string& file : arguments.inputs) inputs.push_back(read_input(session.registry(), file));
  const std::vector<int64_t> values =
      values_given(description.varying, arguments.dimensions)
          .value_or(inputs.empty() ? highest_values(network::parameters_of(description.varying))
                                   : values_in(description, inputs));
  const std::vector<LibraryArgument> taken = network::at_values(description.inputs, values),
                                     returned = network::at_values(description.outputs, values);
  for (size_t i = 0; i < inputs.size(); ++i) require_type(inputs[i], arguments.inputs[i], taken[i]);
  if (inputs.empty())
    inputs = network::random_inputs(taken, static_cast<uint64_t>(arguments.seed), arguments.integers);
  std::vector<Tensor> outputs;
  for (const LibraryArgument& output : returned)
    outputs.push_back(Tensor::zeros(output.type.dtype, output.type.shape));
  std::vector<void*> data;
  for (std::vector<Tensor>* const tensors : {&inputs, &outputs})
    for (Tensor& tensor : *tensors) data.push_back(tensor.bytes.data());
  network::BuiltLibrary library(arguments.folder, description.facts());
  library.set_extents(values);
  library.run(data);
  const nlohmann::json list =
      written(description, network::cut_to_counts(description.counted, std::move(outputs)), arguments.output,
              common.json);
  if (common.json) print_json({{"name", description.name}, {"outputs", list}});
  return kDone;
}

}  // namespace tunesmith::cli
