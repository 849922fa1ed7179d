#include <algorithm>
#include <map>
#include <ranges>
#include <vector>

#include "moving_loads.h"
#include "tunesmith/ir/annotation_keys.h"

namespace tunesmith::llvm_target {

namespace {

/// More per iteration would delay its computation.
constexpr int64_t kMaxLinesOfAShare = 4;

/// The elements of a buffer that one iteration loads.
struct Touched {
  BufferSlot slot;
  DType type;
  Linear first;
  std::vector<int64_t> elements;  // behind `first`
  bool alike = true;              // their addresses differ only by constants

  void add(const LaneIndex& index) {
    alike = alike && index.base.terms == first.terms;
    for (const int64_t lane : index.lanes) elements.push_back(index.base.constant - first.constant + lane);
  }

  /// Starts at the first element; false if there are gaps.
  bool make_dense() {
    if (!alike) return false;
    std::ranges::sort(elements);
    elements.erase(std::ranges::unique(elements).begin(), elements.end());
    first.constant += elements.front();
    return elements.back() - elements.front() + 1 == static_cast<int64_t>(elements.size());
  }
};

int64_t coefficient_of(const Linear& linear, uint32_t atom) {
  const auto term = std::ranges::find(linear.terms, atom, &Linear::Term::atom);
  return term == linear.terms.end() ? 0 : term->coefficient;
}

}  // namespace

/// Memory without gaps that loops reread until an outer loop moves on to the memory behind it.
struct FunctionEmitter::Run {
  Linear begin;
  int64_t elements = 0;
  int64_t iterations = 1;  // until then
  Linear passed;           // in those iterations
};

std::optional<FunctionEmitter::Run> FunctionEmitter::find_run(const Linear& first, int64_t elements) const {
  Run run{.begin = first, .elements = elements, .passed = {}};
  auto around = rolled_.rbegin();
  const auto counted = [&] { return add_scaled(around->index, Linear(*around->begin), -1); };  // from 0
  const auto pass = [&] {
    run.passed = add_scaled(run.passed, counted(), run.iterations);
    run.iterations *= *around->extent;
    ++around;
  };
  const auto moves = [&] { return coefficient_of(first, around->index.terms.front().atom); };
  const auto is_counted = [&] { return around != rolled_.rend() && around->begin && around->extent; };
  while (is_counted() && moves() == run.elements) {
    run.begin = add_scaled(run.begin, counted(), -run.elements);
    run.elements *= *around->extent;
    pass();
  }
  while (is_counted() && moves() == 0) pass();
  if (run.elements == elements || around == rolled_.rend() || moves() != run.elements) return std::nullopt;
  return run;
}

void FunctionEmitter::emit_prefetch_behind(const Loop& loop) {
  if (whole_annotation(loop, kPrefetchBehind).value_or(0) == 0) return;
  const auto outer = vars_;
  std::map<uint32_t, Touched> buffers;
  MovingLoads(*this, loop.var, [&](const BufferSlot& slot, DType type, const LaneIndex& index) {
    buffers.try_emplace(slot.id, Touched{slot, type, index.base, {}}).first->second.add(index);
    return true;
  }).walk(*loop.body());
  vars_ = outer;
  for (Touched& touched : buffers | std::views::values) {
    if (!touched.make_dense()) continue;
    const auto run = find_run(touched.first, static_cast<int64_t>(touched.elements.size()));
    if (!run) continue;
    const int64_t line = kCacheLineBytes / touched.type.scalar().bytes();
    const int64_t share = floor_quotient(run->elements + run->iterations - 1, run->iterations);
    if (share > kMaxLinesOfAShare * line) continue;
    const Linear behind = add_scaled(run->begin, Linear(run->elements), 1);
    for (int64_t at = 0; at < share; at += line)
      prefetch(touched.slot, touched.type, add_scaled(add_scaled(behind, run->passed, share), Linear(at), 1));
  }
}

}  // namespace tunesmith::llvm_target
