#include "affine/index_map.h"

#include <algorithm>

#include "affine/index_inverse.h"
#include "tunesmith/affine/iter_map.h"

namespace tunesmith {
namespace {

std::vector<IterDomain> domains_of(const IndexMap& map, std::span<const int64_t> extents) {
  std::vector<IterDomain> domains;
  for (size_t i = 0; i < extents.size(); ++i) domains.push_back({map.params[i], extents[i]});
  return domains;
}

}  // namespace

std::vector<Expr> IndexMap::apply(std::span<const Expr> values) const {
  Substitution map;
  for (size_t i = 0; i < params.size(); ++i) map.set(params[i], values[i]);
  return substitute(results, map);
}

std::optional<std::vector<Expr>> IndexMap::invert(std::span<const int64_t> extents,
                                                  std::span<const Expr> values) const {
  const std::vector<IterDomain> domains = domains_of(*this, extents);
  Analyzer analyzer;
  for (const IterDomain& domain : domains) analyzer.bind(domain);
  std::vector<Expr> simple;
  for (const Expr& result : results) simple.push_back(analyzer.simplify(result));
  return tunesmith::invert(domains, simple, values);
}

/// A workload's arrays have at most 2^34 elements; sizes in bytes must fit 64 bits.
bool is_too_large(std::span<const int64_t> extents) {
  constexpr int64_t kMaxElements = int64_t{1} << 36;
  int64_t elements = 1;
  return std::ranges::any_of(extents, [&](int64_t extent) {
    return __builtin_mul_overflow(elements, extent, &elements) || elements > kMaxElements;
  });
}

std::string_view check_index_map(const IndexMap& map, std::span<const int64_t> extents, MapImage* image) {
  *image = {};
  if (map.params.size() != extents.size()) return "the index map has another number of parameters";
  const std::vector<IterDomain> domains = domains_of(map, extents);
  Analyzer analyzer;
  for (const IterDomain& domain : domains) analyzer.bind(domain);
  for (const Expr& result : map.results) {
    const Interval range = analyzer.bounds(result);
    if (range.min < 0) return "the index map gives a negative index";
    image->extents.push_back(range.max + 1);
  }
  if (is_too_large(image->extents)) return "the index map's image has more than 2^36 points";
  const IterMapCheck check = check_iter_map(map.results, image->extents, domains, bool_imm(true));
  if (!check.injective) return "the index map is not one-to-one";
  image->onto = check.bijective;
  return "";
}

}  // namespace tunesmith
