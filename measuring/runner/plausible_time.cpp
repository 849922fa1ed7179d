#include "runner/plausible_time.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/target/separate_device.h"

namespace tunesmith {
namespace {

constexpr double kMargin = 8.0;  // of a peak that was measured in a bad moment
constexpr double kBytesPerOperation = 8.0;
constexpr double kTermsPerOperation = 8.0;
/// A program at the vector unit's peak asks for a hundredth of it: only what asks for more than this is worth
/// measuring the peak.
constexpr double kUnquestioned = 8e9;

bool is_output(const Program& program, const Buffer& buffer) {
  return std::ranges::any_of(program.outputs, [&](const Buffer& one) { return one.get() == buffer.get(); });
}

/// Does each instance of the block add something of its own? `added` are the operands of its sum.
bool all_terms_differ(const Block& block, const Store& store) {
  if (any_of_expr(store.value, [](const Expr& part) { return part.is(ExprKind::Select); })) return false;
  return std::ranges::all_of(block.iters, [&](const IterVar& iter) {
    return iter.extent == 1 || any_of_expr(store.value, [&](const Expr& part) {
             const LoadNode* const load = part.as<LoadNode>();
             if (load == nullptr || load->buffer.get() == store.buffer.get()) return false;
             return std::ranges::any_of(load->indices(),
                                        [&](const Expr& index) { return uses_var(index, iter.var); });
           });
  });
}

double terms_of_sum(const Program& program, const Block& block) {
  double terms = 0.0;
  walk(block, [&](const Stmt& stmt) {
    const Store* const store = stmt.as<Store>();
    if (store == nullptr || !block.has_reduction() || !store->value.is(ExprKind::Add)) return;
    if (!store->buffer->dtype.is_float() || !is_output(program, store->buffer)) return;
    if (!all_terms_differ(block, *store)) return;
    terms = 1.0;
    for (const IterVar& iter : block.iters) terms *= static_cast<double>(iter.extent);
  });
  return terms;
}

}  // namespace

double min_operations(const Program& program) {
  double bytes = 0.0;
  for (const Buffer& output : program.outputs) bytes += static_cast<double>(output->bytes());
  double terms = 0.0;
  for (const Block* block : program.blocks()) terms = std::max(terms, terms_of_sum(program, *block));
  return std::max(bytes / kBytesPerOperation, terms / kTermsPerOperation) / kMargin;
}

PlausibleTime::PlausibleTime(const Program& program, Target& target, int threads)
    : operations_(min_operations(program)),
      target_(target),
      threads_(threads > 0 ? threads : static_cast<int>(available_processors())) {}

double PlausibleTime::peak() {
  if (!peak_) {
    try {
      peak_ = measure_peak(target_, kF32, threads_);
    } catch (const EnvironmentError&) {
      peak_ = 0.0;  // threads cannot be started: nothing is claimed
    }
  }
  return *peak_;
}

std::optional<CandidateFailure> PlausibleTime::refuse(double seconds) {
  if (models_times(target_) || operations_ <= seconds * kUnquestioned) return std::nullopt;
  if (peak() <= 0.0 || operations_ <= seconds * peak()) return std::nullopt;
  return CandidateFailure{FailureCause::ImplausibleTime,
                          fmt::format("{:.2g} s; what it must store or add up takes {:.2g} s at the least",
                                      seconds, operations_ / peak())};
}

}  // namespace tunesmith
