#include "affine/index_map.h"

#include <algorithm>

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
  std::vector<Expr> applied;
  for (const Expr& result : results) applied.push_back(substitute(result, map));
  return applied;
}

std::optional<std::vector<Expr>> IndexMap::invert(std::span<const int64_t> extents,
                                                  std::span<const Expr> values) const {
  const std::vector<IterDomain> domains = domains_of(*this, extents);
  std::vector<Expr> inverse(extents.size(), Expr(0));
  for (size_t d = 0; d < results.size(); ++d) {
    const std::optional<IterSum> sum = as_iter_sum(results[d], domains);
    if (!sum || sum->base != 0) return std::nullopt;
    for (size_t n = 0; n < sum->terms.size(); ++n) {
      const IterSplit& term = sum->terms[n];
      const int64_t below =
          n + 1 < sum->terms.size() ? sum->terms[n + 1].scale * sum->terms[n + 1].extent : 1;
      if (term.scale != below) return std::nullopt;
      Expr digit = floordiv(values[d], term.scale);
      if (n > 0) digit = floormod(digit, term.extent);
      Expr& value = inverse[static_cast<size_t>(std::ranges::find(params, term.source) - params.begin())];
      value = value + digit * term.lower_factor;
    }
  }
  return inverse;
}

std::string_view check_index_map(const IndexMap& map, std::span<const int64_t> extents, MapImage* image) {
  *image = {};
  if (map.params.size() != extents.size()) return "the index map has another number of parameters";
  const std::vector<IterDomain> domains = domains_of(map, extents);
  Analyzer analyzer;
  for (const IterDomain& domain : domains) analyzer.bind(domain.var, domain.extent);
  for (const Expr& result : map.results) {
    const Interval range = analyzer.bounds(result);
    if (range.min < 0) return "the index map gives a negative index";
    image->extents.push_back(range.max + 1);
  }
  const IterMapCheck check = check_iter_map(map.results, image->extents, domains, bool_imm(true));
  if (!check.injective) return "the index map is not one-to-one";
  image->onto = check.bijective;
  return "";
}

}  // namespace tunesmith
