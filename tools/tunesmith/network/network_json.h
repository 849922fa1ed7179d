// Networks as JSON objects, for --json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/network/network.h>

namespace tunesmith::cli {

/// The name, type and shape; null where unknown.
nlohmann::json tensor_json(const network::Tensor& tensor);
/// The network without the values of its constants.
nlohmann::json network_json(const network::Network& network);

}  // namespace tunesmith::cli
