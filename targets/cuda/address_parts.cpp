#include "address_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

struct Splitter {
  std::vector<Var> fixed;    // of bound loops
  std::vector<Var> counted;  // of loops without barriers
  AddressParts parts;

  explicit Splitter(const Stmt& at) {
    for (const Loop* loop : loops_above(at)) {
      if (loop->loop_kind == LoopKind::Bound) {
        fixed.push_back(loop->var);
      } else if (find_first<Barrier>(*loop) == nullptr) {
        counted.push_back(loop->var);
      }
    }
  }

  void add(const Expr& offset, bool negative) {
    if (offset.is(ExprKind::Add) || offset.is(ExprKind::Sub)) {
      add(offset.arg(0), negative);
      return add(offset.arg(1), negative != offset.is(ExprKind::Sub));
    }
    const std::vector<Var> vars = vars_of(offset);
    const auto all_in = [&](const std::vector<Var>& known) {
      return std::ranges::all_of(
          vars, [&](const Var& var) { return std::ranges::find(known, var) != known.end(); });
    };
    Expr& part = all_in(counted) ? parts.counted : all_in(fixed) ? parts.fixed : parts.moving;
    part = negative ? part - offset : part + offset;
  }
};

}  // namespace

AddressParts address_parts(const Expr& offset, const Stmt& at) {
  Splitter splitter(at);
  splitter.add(offset, false);
  return splitter.parts;
}

std::string moving_text(const AddressParts& parts, const Analyzer& ranges, ExprText& exprs) {
  const std::string counted = fmt::format("({})", exprs.text(parts.counted, ranges));
  if (is_const_int(parts.moving, 0)) return counted;
  return fmt::format("{} + {}", exprs.text(parts.moving, ranges, ExprText::kOperand), counted);
}

}  // namespace tunesmith::cuda
