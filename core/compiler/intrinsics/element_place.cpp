#include "intrinsics/element_place.h"

#include <algorithm>

#include "tunesmith/affine/linear_form.h"

namespace tunesmith {
namespace {

/// Distributes the terms of an offset over the dimensions. A term may belong to several, since indices
/// outside of the buffer exceed the distance of the next dimension: the condition decides.
class Distribution {
 public:
  Distribution(const Expr& inside, const BufferNode& buffer, const Analyzer& ranges)
      : inside_(inside), buffer_(buffer), ranges_(ranges), strides_(buffer.effective_strides()) {}

  std::optional<std::vector<Expr>> run(LinearForm offset) {
    if (offset.constant != 0) offset.terms.push_back({offset.constant, Expr(1)});
    terms_ = std::move(offset.terms);
    indices_.assign(strides_.size(), Expr(0));
    if (!place(0)) return std::nullopt;
    return indices_;
  }

 private:
  bool place(size_t term) {
    if (term == terms_.size()) return says_inside(inside_, buffer_, indices_, ranges_);
    const auto& [coefficient, atom] = terms_[term];
    size_t tried = 0;
    for (size_t d = 0; d < strides_.size() && tried < kMaxTried; ++d) {
      if (buffer_.shape[d] == 1 || coefficient % strides_[d] != 0) continue;
      ++tried;
      const Expr before = indices_[d];
      indices_[d] = ranges_.simplify(before + atom * (coefficient / strides_[d]));
      if (place(term + 1)) return true;
      indices_[d] = before;
    }
    return false;
  }

  static constexpr size_t kMaxTried = 2;  // dimensions for each term, outermost first

  const Expr& inside_;
  const BufferNode& buffer_;
  const Analyzer& ranges_;
  const std::vector<int64_t> strides_;
  std::vector<LinearForm::Term> terms_;
  std::vector<Expr> indices_;
};

}  // namespace

bool says_inside(const Expr& condition, const BufferNode& buffer, std::span<const Expr> indices,
                 const Analyzer& ranges) {
  if (!buffer.extents.empty()) return false;
  Expr wanted = bool_imm(true);
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!ranges.can_prove(le(0, indices[d]))) return false;
    wanted = logical_and(wanted, lt(indices[d], buffer.shape[d]));
  }
  const std::vector<Expr> needed = conjuncts(ranges.simplify(wanted));
  const std::vector<Expr> said = conjuncts(ranges.simplify(condition));
  return std::ranges::is_permutation(needed, said, equal);
}

std::optional<std::vector<Expr>> indices_at(const Expr& offset, const Expr& inside, const BufferNode& buffer,
                                            const Analyzer& ranges) {
  return Distribution(inside, buffer, ranges).run(ranges.linear(offset));
}

}  // namespace tunesmith
