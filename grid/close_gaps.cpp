#include <algorithm>
#include <optional>
#include <set>

#include "passes.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/move_accesses.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// An index  period * step + offset  with offset in [0, width).
struct Stepped {
  Expr step;
  Interval steps;
  Expr offset;
  int64_t width = 1;
};

std::optional<Stepped> stepped(const LinearForm& index, int64_t period, const Analyzer& analyzer) {
  LinearForm step;
  LinearForm offset;
  for (const LinearForm::Term& term : index.terms) {
    if (term.coefficient % period == 0) {
      step.terms.push_back({term.coefficient / period, term.atom});
    } else {
      offset.terms.push_back(term);
    }
  }
  step.constant = index.constant / period;
  offset.constant = index.constant % period;
  Stepped result{step.to_expr(), {}, offset.to_expr(), 1};
  result.steps = analyzer.bounds(result.step);
  const Interval offsets = analyzer.bounds(result.offset);
  if (offsets.min < 0 || offsets.max >= period || result.steps.min < 0 || !result.steps.bounded())
    return std::nullopt;
  result.width = offsets.max + 1;
  return result;
}

class GapCloser {
 public:
  explicit GapCloser(Allocate& allocate) : allocate_(allocate) {}

  void run() {
    if (!allocate_.buffer->strides.empty() || allocate_.buffer->swizzle.bits > 0) return;
    for (size_t d = 0; d < allocate_.buffer->shape.size(); ++d) {
      while (close_in(d)) {
      }
    }
  }

 private:
  /// Calls it with each access's index in the dimension.
  template <typename Visit>
  void for_each_index(size_t dimension, const Visit& visit) const {
    walk_accesses(*allocate_.body(), [&](const Stmt& stmt, const AccessSite& access) {
      if (access.buffer != allocate_.buffer) return;
      const Analyzer analyzer = Analyzer::at(stmt);
      visit(analyzer.linear(access.indices[dimension]), analyzer);
    });
  }

  bool close_in(size_t dimension) {
    std::set<int64_t, std::greater<>> periods;
    for_each_index(dimension, [&](const LinearForm& index, const Analyzer&) {
      for (const LinearForm::Term& term : index.terms) {
        if (term.coefficient > 1) periods.insert(term.coefficient);
      }
    });
    return std::ranges::any_of(periods, [&](int64_t period) { return close(dimension, period); });
  }

  /// Makes the used elements of all steps contiguous.
  bool close(size_t dimension, int64_t period) {
    int64_t width = 1;
    int64_t steps = 0;
    bool all_step = true;
    for_each_index(dimension, [&](const LinearForm& index, const Analyzer& analyzer) {
      const auto form = stepped(index, period, analyzer);
      all_step = all_step && form;
      if (!form) return;
      width = std::max(width, form->width);
      steps = std::max(steps, form->steps.max);
    });
    if (!all_step || width == period) return false;
    const Buffer old = allocate_.buffer;
    std::vector<int64_t> shape = old->shape;
    shape[dimension] = std::min(steps, (shape[dimension] - 1) / period) * width + width;
    const Buffer closed = make_buffer(old->name, old->dtype, std::move(shape), old->scope, old->constant);
    move_accesses(*allocate_.body(), old, closed, [&](const Stmt& stmt, std::span<const Expr> indices) {
      const Analyzer analyzer = Analyzer::at(stmt);
      const auto form = stepped(analyzer.linear(indices[dimension]), period, analyzer);
      std::vector<Expr> moved(indices.begin(), indices.end());
      moved[dimension] = analyzer.simplify(form->step * width + form->offset);
      return moved;
    });
    allocate_.buffer = closed;
    return true;
  }

  Allocate& allocate_;
};

}  // namespace

void close_gaps(Program& program) {
  for (Allocate* allocate : collect<Allocate>(program.root())) GapCloser(*allocate).run();
}

}  // namespace tunesmith
