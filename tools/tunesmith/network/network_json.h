// Networks as JSON objects, for --json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/network/network.h>

namespace tunesmith::cli {

/// Its name, type and shape; null is what is not known.
nlohmann::json tensor_json(const network::Tensor& tensor);
/// Everything but the values of constants.
nlohmann::json network_json(const network::Network& network);

}  // namespace tunesmith::cli
