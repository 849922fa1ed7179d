// Builds a network's library from its tasks' programs, as the arguments say.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/network/build_network.h>

#include "shipping.h"
#include "tasks.h"

namespace tunesmith::cli {

/// The folder for the library's files.
std::string output_folder(const NetworkArguments& arguments);

network::LibrarySource library_source(const NetworkArguments& arguments);

/// Throws UserError if the space's target builds no libraries.
Packaging& packaging_of(const Space& space);

ShippingOptions shipping_options(const NetworkArguments& arguments, bool quiet);

/// Reports what was built: as text, and as members of a JSON object.
void print_built(const network::BuiltNetwork& built, const TaskedNetwork& tasked);
nlohmann::json built_json(const network::BuiltNetwork& built, const TaskedNetwork& tasked);

}  // namespace tunesmith::cli
