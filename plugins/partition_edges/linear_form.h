// Conditions over the loops around a block, as linear forms.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

/// constant + coefficients[i] * (variable of the i-th loop around the block, outermost first).
struct LinearForm {
  int64_t constant = 0;
  std::vector<int64_t> coefficients;
};

/// Reads the conditions of one block over the loops around it.
class LoopConditions {
 public:
  explicit LoopConditions(const Block& block);

  /// The conditions of the block's predicate, or of its `select`s, that are linear in the loops, each as a
  /// form that is nonnegative if it holds. Omits others.
  std::vector<LinearForm> of_predicate() const;
  std::vector<LinearForm> of_selects() const;

  const std::vector<Pointer<Loop>>& loops() const { return loops_; }

 private:
  std::optional<LinearForm> form_of(const Expr& expr) const;
  std::optional<LinearForm> form_of_sum(const Expr& expr, int64_t sign) const;
  std::optional<LinearForm> form_of_product(const Expr& expr) const;
  void add_conjuncts(const Expr& condition, std::vector<LinearForm>& forms) const;
  void add_selects(const Expr& expr, std::vector<LinearForm>& forms) const;

  Block block_;
  std::vector<Pointer<Loop>> loops_;
  std::vector<IterVar> iters_;
};

}  // namespace tunesmith
