// NAME.json beside a network's library: how it was built, and facts that its functions do not report, for
// running, verifying and timing it.
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
  /// A step, with the work to which its time is compared and the facts that a picture shows.
  struct Step {
    LibraryFacts::Step facts;
    double flops = 0;  ///< for all trips of a loop, like the bytes; constants are read once
    double bytes_min = 0;
    double constant_bytes = 0;           ///< the part of these that is equal in each call: weights
    std::string type;                    ///< of its arithmetic (computed_type())
    std::vector<std::string> operators;  ///< of its nodes, in order
    std::vector<size_t> reads;           ///< steps whose results it reads
  };
  std::string name;
  std::string file;                     ///< the network's file, absolute
  std::vector<std::string> dimensions;  ///< "batch=1"
  std::vector<std::string> operators;   ///< further operator files, absolute
  std::string network;                  ///< network_hash
  std::vector<LibraryArgument> inputs, outputs;
  std::vector<CountedOutput> counted;
  std::vector<VaryingExtent> varying;
  std::vector<Step> steps;

  LibraryFacts facts() const;
};

/// Describes a library built from this source.
LibraryDescription describe_library(const TaskedNetwork& tasked, const LibrarySource& source,
                                    const LibraryPlan& plan);

/// Returns the file's path. Throws EnvironmentError if it cannot be written.
std::string write_description(const LibraryDescription& description, const std::filesystem::path& folder);
/// The only description in the folder. Throws UserError if there is none, several, or a damaged one.
LibraryDescription read_description(const std::filesystem::path& folder);

}  // namespace tunesmith::network
#pragma GCC visibility pop
