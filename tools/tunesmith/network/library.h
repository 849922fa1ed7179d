// From programs of a network's tasks to its library's files, as the arguments say.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/network/build_network.h>

#include "shipping.h"
#include "tasks.h"

namespace tunesmith::cli {

/// Where its files go.
std::string output_folder(const NetworkArguments& arguments);

network::LibrarySource library_source(const NetworkArguments& arguments);

/// Throws UserError where the space's target builds no libraries.
Packaging& packaging_of(const Space& space);

ShippingOptions shipping_options(const NetworkArguments& arguments, bool quiet);

/// What was built, for people and as the members of a JSON object.
void print_built(const network::BuiltNetwork& built, const TaskedNetwork& tasked);
nlohmann::json built_json(const network::BuiltNetwork& built, const TaskedNetwork& tasked);

}  // namespace tunesmith::cli
