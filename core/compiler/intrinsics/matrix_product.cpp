#include "tunesmith/intrinsics/matrix_product.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/analysis/accesses.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

enum class Role : uint8_t { Batch, First, Second, Reduction };

/// A digit of an iterator, or the whole iterator.
struct IterPart {
  size_t iter = 0;
  std::string text;  // in the index map
  int64_t extent = 1;
  Var var;  // in the accesses
  Role role = Role::First;
};

/// A number that divides the iterator's extent and by which a factor divides the iterator; 0 if there is
/// none.
int64_t divisor_of(const IterVar& iter, const std::vector<Access>& accesses) {
  int64_t found = 0;
  for (const Access& access : accesses) {
    for (const Expr& index : access.indices) {
      walk_expr(index, [&](const Expr& part) {
        int64_t by = 0;
        if ((!part.is(ExprKind::FloorDiv) && !part.is(ExprKind::FloorMod)) ||
            !as_const_int(part.arg(1), &by) || !uses_var(part.arg(0), iter.var))
          return;
        if (found == 0 && by > 1 && by < iter.extent && iter.extent % by == 0) found = by;
      });
    }
  }
  return found;
}

bool access_uses(const Access& access, const Var& var) {
  return std::ranges::any_of(access.indices, [&](const Expr& index) { return uses_var(index, var); });
}

class ProductMatcher {
 public:
  explicit ProductMatcher(const Block& block)
      : block_(block), reads_(read_accesses(block)), written_(write_accesses(block)) {}

  std::string_view run(MatrixProduct* product) {
    ReductionPattern pattern;
    if (!match_reduction(block_, &pattern) || pattern.op != ExprKind::Add || reads_.size() != 2 ||
        written_.size() != 1)
      return "the block is not a sum of products of two factors";
    take_apart();
    if (const std::string_view reason = give_roles(); !reason.empty()) return reason;
    const auto has = [&](Role role) {
      return std::ranges::any_of(parts_, [&](const auto& part) { return part.role == role; });
    };
    if (!has(Role::First) || !has(Role::Second))
      return "a factor has no axis of its own, along which the other is reused";
    if (!has(Role::Reduction)) return "the block has no axis that both factors are reduced over";
    if (column_role() == Role::First) product->factors = {1, 0};
    const bool exchanged = product->factors[0] == 1;
    const std::array roles{exchanged ? Role::Second : Role::First, exchanged ? Role::First : Role::Second,
                           Role::Reduction};
    product->index_map = index_map(roles);
    product->extents = extents(roles);
    for (const size_t side : {0U, 1U}) {
      const size_t factor = product->factors[side];
      const std::optional<Role> innermost = innermost_role(reads_[factor]);
      const Role own = factor == 0 ? Role::First : Role::Second;
      product->reduction_inside[side] = side == 0 ? innermost != own : innermost == Role::Reduction;
    }
    return "";
  }

 private:
  /// Splits iterators into parts and rewrites the accesses over them.
  void take_apart() {
    Substitution map;
    for (size_t i = 0; i < block_.iters.size(); ++i) {
      const IterVar& iter = block_.iters[i];
      const std::string name = fmt::format("v{}", i);
      const bool shared = access_uses(reads_[0], iter.var) && access_uses(reads_[1], iter.var);
      const int64_t by = shared && iter.kind == IterKind::Spatial ? divisor_of(iter, reads_) : 0;
      if (by == 0) {
        parts_.push_back({i, name, iter.extent, iter.var});
        continue;
      }
      parts_.push_back({i, fmt::format("{} // {}", name, by), iter.extent / by, Var(name)});
      parts_.push_back({i, fmt::format("{} % {}", name, by), by, Var(name)});
      map.set(iter.var, parts_.end()[-2].var * by + parts_.back().var);
      divided_ = true;
    }
    // A part of extent 1 keeps its role from the text.
    for (const IterPart& part : parts_) {
      if (part.extent > 1) ranges_.bind(part.var, part.extent);
    }
    for (Access& access : reads_) rewrite(access, map);
    rewrite(written_.front(), map);
  }

  void rewrite(Access& access, const Substitution& map) const {
    for (Expr& index : access.indices) index = ranges_.simplify(substitute(index, map));
  }

  std::string_view give_roles() {
    for (IterPart& part : parts_) {
      const bool first = access_uses(reads_[0], part.var);
      const bool second = access_uses(reads_[1], part.var);
      if (block_.iters[part.iter].kind == IterKind::Reduction) {
        if (part.extent > 1 && (!first || !second))
          return "the block reduces over an axis that one factor alone has";
        part.role = Role::Reduction;
      } else if (block_.iters[part.iter].kind != IterKind::Spatial) {
        return "an axis of the block is neither spatial nor reduced over";
      } else if (part.extent > 1 && !first && !second) {
        return "the block repeats its result along an axis";
      } else if (first && second) {
        part.role = Role::Batch;
      } else {
        part.role = second ? Role::Second : Role::First;
      }
    }
    return "";
  }

  /// Columns are the part that varies faster than rows in the result.
  Role column_role() const {
    for (auto index = written_.front().indices.rbegin(); index != written_.front().indices.rend(); ++index) {
      for (const IterPart& part : parts_) {
        const bool own = part.role == Role::First || part.role == Role::Second;
        if (own && part.extent > 1 && uses_var(*index, part.var)) return part.role;
      }
    }
    return Role::Second;
  }

  /// The role of the part along which the factor's elements are contiguous in memory.
  std::optional<Role> innermost_role(const Access& access) const {
    for (size_t d = access.indices.size(); d-- > 0;) {
      if (access.buffer->shape[d] == 1) continue;
      const LinearForm form = ranges_.linear(access.indices[d]);
      std::optional<Role> found;
      for (const IterPart& part : parts_) {
        if (form.coefficient_of(part.var) != 1) continue;
        if (found) return std::nullopt;
        found = part.role;
      }
      return found;
    }
    return std::nullopt;
  }

  std::vector<int64_t> extents(const std::array<Role, 3>& roles) const {
    std::vector<int64_t> extents;
    for (const IterPart& part : parts_) {
      if (part.role == Role::Batch) extents.push_back(part.extent);
    }
    for (const Role role : roles) {
      extents.push_back(1);
      for (const IterPart& part : parts_) {
        if (part.role == role) extents.back() *= part.extent;
      }
    }
    return extents;
  }

  std::string index_map(const std::array<Role, 3>& roles) const {
    std::vector<std::string> params;
    for (size_t i = 0; i < block_.iters.size(); ++i) params.push_back(fmt::format("v{}", i));
    std::vector<std::string> results;
    for (const IterPart& part : parts_) {
      if (part.role == Role::Batch) results.push_back(part.text);
    }
    for (const Role role : roles) results.push_back(fused(role));
    if (!divided_ && results == params) return "";
    return fmt::format("({}) -> ({})", fmt::join(params, ", "), fmt::join(results, ", "));
  }

  /// "(v0 * 14 + v1) * 14 + v2".
  std::string fused(Role role) const {
    std::string text;
    for (const IterPart& part : parts_) {
      if (part.role != role) continue;
      if (text.empty()) {
        text = part.text;
        continue;
      }
      const bool sum = text.find('+') != std::string::npos;
      text = sum ? fmt::format("({}) * {} + {}", text, part.extent, part.text)
                 : fmt::format("{} * {} + {}", text, part.extent, part.text);
    }
    return text;
  }

  const Block& block_;
  std::vector<Access> reads_;
  std::vector<Access> written_;
  std::vector<IterPart> parts_;
  Analyzer ranges_;
  bool divided_ = false;
};

}  // namespace

std::string_view match_matrix_product(const Block& block, MatrixProduct* product) {
  return ProductMatcher(block).run(product);
}

}  // namespace tunesmith
