// <name>.json beside a network's library: what it was built of, for `network verify`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tunesmith/network/built_library.h>

#include "network_tasks.h"

namespace tunesmith::cli {

struct LibraryDescription {
  /// A step, with what its time is compared with and what a picture shows of it.
  struct Step {
    network::LibraryFacts::Step facts;
    double flops = 0;
    double bytes_min = 0;
    double constant_bytes = 0;           // of these, what is equal in each call: weights
    std::string type;                    // that it computes in (computed_type())
    std::vector<std::string> operators;  // of its nodes, in their order
    std::vector<size_t> reads;           // steps whose results it reads
  };
  std::string name;
  std::string file;                     // of the network, absolute
  std::vector<std::string> dimensions;  // "batch=1"
  std::string network;                  // network_hash
  std::vector<network::LibraryArgument> inputs, outputs;
  std::vector<Step> steps;

  network::LibraryFacts facts() const;
};

/// Of all that a library is built of but its kernels: equal for networks with equal values, regions and
/// order.
std::string network_hash(const TaskedNetwork& tasked);

/// Of what was built of these arguments.
LibraryDescription describe_library(const TaskedNetwork& tasked, const NetworkArguments& arguments,
                                    const network::LibraryPlan& plan);

/// Throws EnvironmentError where it cannot be written.
std::string write_description(const LibraryDescription& description, const std::filesystem::path& folder);
/// The only one in the folder. Throws UserError where there is none, several, or one that is damaged.
LibraryDescription read_description(const std::filesystem::path& folder);

}  // namespace tunesmith::cli
