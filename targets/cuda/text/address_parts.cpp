#include "text/address_parts.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "tunesmith/ir/visit.h"
#include "written_steps.h"

namespace tunesmith::cuda {
namespace {

constexpr uint64_t kAllBits = ~uint64_t{0};

/// All bits from the lowest of `low` to the highest of `most`.
uint64_t bits_between(uint64_t low, uint64_t most) {
  if (most == 0) return 0;
  return kAllBits >> std::countl_zero(most) & kAllBits << std::countr_zero(low);
}

/// Possible bits of a sum. A bit that both have may carry.
uint64_t bits_of_sum(uint64_t a, uint64_t b) {
  return (a & b) == 0 ? a | b : kAllBits << std::countr_zero(a | b);
}

/// Possible bits of a term.
uint64_t bits_of(const Expr& term, const Analyzer& ranges) {
  const Interval range = ranges.bounds(term);
  if (range.min < 0 || !range.bounded()) return kAllBits;
  int64_t divisor = 1;
  while (divisor <= range.max && ranges.can_prove_equal(floormod(term, divisor * 2), 0)) divisor *= 2;
  return bits_between(static_cast<uint64_t>(divisor), static_cast<uint64_t>(range.max));
}

class Splitter {
 public:
  Splitter(const Stmt& at, const Swizzle& swizzle, uint64_t own)
      : swizzle_(swizzle), ranges_(Analyzer::at(at)), fixed_bits_(own) {
    for (const Loop* loop : loops_above(at)) {
      if (loop->loop_kind == LoopKind::Bound) {
        fixed_.push_back(loop->var);
      } else if (!has_barrier(*loop)) {
        counted_.push_back(loop->var);
      }
    }
  }

  AddressParts run(const Expr& offset) {
    add(offset, false);
    if ((turned_bits_ & fixed_bits_) != 0) {
      parts_.fixed = parts_.fixed + parts_.turned;
      parts_.turned = 0;
    }
    return parts_;
  }

 private:
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
    const bool keeps_pattern =
        swizzle_.bits == 0 || ranges_.can_prove_equal(floormod(offset, swizzle_.period()), 0);
    if (keeps_pattern) {
      Expr& part = all_in(counted_) ? parts_.counted : all_in(fixed_) ? parts_.fixed : parts_.moving;
      part = negative ? part - offset : part + offset;
      return;
    }
    const bool turns = all_in(counted_) && !negative;
    Expr& part = turns ? parts_.turned : parts_.fixed;
    uint64_t& bits = turns ? turned_bits_ : fixed_bits_;
    part = negative ? part - offset : part + offset;
    bits = negative ? kAllBits : bits_of_sum(bits, bits_of(offset, ranges_));
  }

  const Swizzle& swizzle_;
  const Analyzer ranges_;
  std::vector<Var> fixed_;    // of bound loops
  std::vector<Var> counted_;  // of loops without barriers
  AddressParts parts_;
  uint64_t fixed_bits_;
  uint64_t turned_bits_ = 0;
};

}  // namespace

AddressParts address_parts(const Expr& offset, const Stmt& at, const Swizzle& swizzle, uint64_t own) {
  return Splitter(at, swizzle, own).run(offset);
}

std::string moving_text(const AddressParts& parts, const Analyzer& ranges, ExprText& exprs) {
  const std::string counted = fmt::format("({})", exprs.text(parts.counted, ranges));
  if (is_const_int(parts.moving, 0)) return counted;
  return fmt::format("{} + {}", exprs.text(parts.moving, ranges, ExprText::kOperand), counted);
}

std::string address_text(const Buffer& buffer, const AddressParts& parts, const std::string& own,
                         const Analyzer& ranges, ExprText& exprs) {
  std::string first = exprs.text(parts.fixed, ranges, own.empty() ? 0 : ExprText::kOperand);
  if (!own.empty()) first = is_const_int(parts.fixed, 0) ? own : fmt::format("{} + {}", first, own);
  if (buffer->swizzle.bits > 0) first = exprs.place(buffer->swizzle, first);
  if (!is_const_int(parts.turned, 0))
    first += " ^ " + exprs.place(buffer->swizzle, exprs.text(parts.turned, ranges));
  return fmt::format("&{}[{}] + {}", exprs.name_of(buffer), first, moving_text(parts, ranges, exprs));
}

uint64_t bits_of_tile(std::span<const int64_t> extents, std::span<const int64_t> strides) {
  uint64_t bits = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    const auto stride = static_cast<uint64_t>(strides[d]);
    bits = bits_of_sum(bits, bits_between(stride, static_cast<uint64_t>(extents[d] - 1) * stride));
  }
  return bits;
}

}  // namespace tunesmith::cuda
