#include "messages/edge_fields.h"

#include <nlohmann/json.hpp>

#include "messages/limits.h"
#include "tunesmith/verification/data_sets.h"

namespace tunesmith {
namespace {

using nlohmann::json;

constexpr int64_t kMaxBits = 64;  // of an integer

}  // namespace

json edge_fields(const Edges& edges) {
  return {{"share", edges.share},         {"signs", edges.signs}, {"any_value", edges.any_value},
          {"denormals", edges.denormals}, {"nans", edges.nans},   {"integer_bits", edges.integer_bits},
          {"draws", edges.draws}};
}

Edges read_edges(const Field& fields) {
  Edges edges;
  edges.share = fields["share"].number(0.0, 1.0);
  edges.signs = fields["signs"].boolean();
  edges.any_value = fields["any_value"].boolean();
  edges.denormals = fields["denormals"].boolean();
  edges.nans = fields["nans"].boolean();
  edges.integer_bits = fields["integer_bits"].integer(0, kMaxBits);
  edges.draws = fields["draws"].integer(0, kMaxDraws);
  return edges;
}

json edge_trait_fields(const EdgeTraits& traits) {
  return {{"carried", traits.carried},     {"rounds", traits.rounds},
          {"reduces", traits.reduces},     {"keeps_denormals", traits.keeps_denormals},
          {"exponents", traits.exponents}, {"operations", traits.operations},
          {"extents", traits.extents},     {"multiplies", traits.multiplies}};
}

EdgeTraits read_edge_traits(const Field& fields) {
  EdgeTraits traits;
  traits.carried = fields["carried"].list(0, kMaxBuffers, [](const Field& axes) {
    return axes.list(0, kMaxDimensions, [](const Field& axis) { return axis.boolean(); });
  });
  traits.rounds = fields["rounds"].boolean();
  traits.reduces = fields["reduces"].boolean();
  traits.keeps_denormals = fields["keeps_denormals"].boolean();
  traits.multiplies = fields["multiplies"].boolean();
  traits.exponents = fields["exponents"].list(
      0, kMaxBuffers, [](const Field& exponent) { return exponent.integer(-kAnyCount, kAnyCount); });
  traits.operations = fields["operations"].integer(0, kAnyCount);
  traits.extents = fields["extents"].list(0, kMaxBuffers,
                                          [](const Field& extent) { return extent.integer(0, kAnyCount); });
  return traits;
}

}  // namespace tunesmith
