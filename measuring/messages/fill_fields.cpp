#include "messages/fill_fields.h"

#include <nlohmann/json.hpp>

#include "messages/edge_fields.h"
#include "messages/limits.h"

namespace tunesmith {
namespace {

using nlohmann::json;

/// No fill has larger values.
constexpr double kMaxBackground = 1e9;

Fill read_fill(const Field& fields) {
  Fill fill;
  fill.largest = static_cast<int>(fields["largest"].integer(1, 1 << 24));
  fill.positive = fields["positive"].boolean();
  fill.near_one = fields["near_one"].boolean();
  fill.terms = fields["terms"].integer(0, kAnyCount);
  fill.background = fields["background"].number(-kMaxBackground, kMaxBackground);
  fill.noise = fields["noise"].number(0.0, kMaxBackground);
  fill.all_sparse = fields["all_sparse"].boolean();
  fill.balanced = fields["balanced"].boolean();
  fill.draws = fields["draws"].integer(1, kMaxDraws);
  fill.peaks = fields["peaks"].integer(0, kMaxDraws);
  fill.scale = fields["scale"].number(-1.0, 1.0);
  fill.edges = read_edges(fields["edges"]);
  return fill;
}

}  // namespace

json fill_fields(const std::vector<Fill>& fills) {
  json list = json::array();
  for (const Fill& fill : fills) {
    list.push_back({{"largest", fill.largest},
                    {"positive", fill.positive},
                    {"near_one", fill.near_one},
                    {"terms", fill.terms},
                    {"background", fill.background},
                    {"noise", fill.noise},
                    {"all_sparse", fill.all_sparse},
                    {"balanced", fill.balanced},
                    {"draws", fill.draws},
                    {"peaks", fill.peaks},
                    {"scale", fill.scale},
                    {"edges", edge_fields(fill.edges)}});
  }
  return list;
}

std::vector<Fill> read_fills(const Field& list) {
  std::vector<Fill> fills = list.list(kDataKinds.size(), kDataKinds.size(), read_fill);
  for (size_t set = 0; set < fills.size(); ++set) fills[set].kind = kDataKinds[set];
  return fills;
}

}  // namespace tunesmith
