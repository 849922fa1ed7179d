// Edges, and a program's edge traits, in message headers.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tunesmith/schema/field.h"
#include "tunesmith/verification/edges.h"

namespace tunesmith {

nlohmann::json edge_fields(const Edges& edges);
Edges read_edges(const Field& fields);

nlohmann::json edge_trait_fields(const EdgeTraits& traits);
EdgeTraits read_edge_traits(const Field& fields);

}  // namespace tunesmith
