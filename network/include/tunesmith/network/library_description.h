// NAME.json beside a network's library: what it was built of, and what it does not say of itself, for who
// runs, verifies or times it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tunesmith/network/build_network.h"
#include "tunesmith/network/built_library.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

struct LibraryDescription {
  /// A step, with what its time is compared with and what a picture shows of it.
  struct Step {
    LibraryFacts::Step facts;
    double flops = 0;  ///< of all trips of a loop, as bytes, where constants are read once
    double bytes_min = 0;
    double constant_bytes = 0;           ///< of these, what is equal in each call: weights
    std::string type;                    ///< that it computes in (computed_type())
    std::vector<std::string> operators;  ///< of its nodes, in their order
    std::vector<size_t> reads;           ///< steps whose results it reads
  };
  std::string name;
  std::string file;                     ///< of the network, absolute
  std::vector<std::string> dimensions;  ///< "batch=1"
  std::vector<std::string> operators;   ///< files with further ones, absolute
  std::string network;                  ///< network_hash
  std::vector<LibraryArgument> inputs, outputs;
  std::vector<VaryingExtent> varying;
  std::vector<Step> steps;

  LibraryFacts facts() const;
};

/// Of what was built of this source.
LibraryDescription describe_library(const TaskedNetwork& tasked, const LibrarySource& source,
                                    const LibraryPlan& plan);

/// Answers the file's path. Throws EnvironmentError where it cannot be written.
std::string write_description(const LibraryDescription& description, const std::filesystem::path& folder);
/// The only one in the folder. Throws UserError where there is none, several, or one that is damaged.
LibraryDescription read_description(const std::filesystem::path& folder);

}  // namespace tunesmith::network
#pragma GCC visibility pop
