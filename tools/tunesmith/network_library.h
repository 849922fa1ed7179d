// From programs of a network's tasks to its library's files.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/network/write_library.h>
#include <tunesmith/target/compiled_kernel.h>

#include "network_tasks.h"
#include "shipping.h"

namespace tunesmith::cli {

/// What `network build` and `network tune` leave.
struct BuiltNetwork {
  network::NetworkFiles files;
  std::string description;  // the file's path
  int64_t memory_bytes = 0;
  int64_t weight_bytes = 0;
};

/// Builds a library without kernels and removes it, to throw what write_network would for a name that C has,
/// a folder that cannot be written, or a target that builds no libraries. Leaves the folder.
void require_library(const TaskedNetwork& tasked, const Space& space, const NetworkArguments& arguments);

/// Where its files go.
std::string output_folder(const NetworkArguments& arguments);

/// Of the task's kernel in the library.
std::string kernel_symbol(const TaskedNetwork& tasked, size_t task);

ShippingOptions shipping_options(const NetworkArguments& arguments, bool quiet);

/// `kernels`: one for each task. Prepares the weights, and writes all files into `folder`, which it makes.
BuiltNetwork write_network(const TaskedNetwork& tasked, std::span<const CompiledKernel* const> kernels,
                           const Space& space, const NetworkArguments& arguments, const std::string& folder);

/// What was built, for people and as the members of a JSON object.
void print_built(const BuiltNetwork& built, const TaskedNetwork& tasked);
nlohmann::json built_json(const BuiltNetwork& built, const TaskedNetwork& tasked);

}  // namespace tunesmith::cli
