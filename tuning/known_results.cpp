#include "known_results.h"

#include <algorithm>

namespace tunesmith {

std::optional<Measured> KnownResults::take(uint64_t lowered_hash) {
  const auto same = [&](const Measured& one) { return one.candidate->lowered_hash == lowered_hash; };
  if (const auto found = std::ranges::find_if(taken_.cut_round, same); found != taken_.cut_round.end()) {
    Measured recorded = std::move(*found);
    taken_.cut_round.erase(found);
    log_.add(recorded, TrialLog::Kind::Recorded);
    return recorded;
  }
  if (!context_.is_measured(lowered_hash)) return std::nullopt;
  std::optional<Measured> known =
      in_history(lowered_hash);  // nothing: from another run, and not among its best
  if (known) log_.repeat(*known);
  return known;
}

std::optional<Measured> KnownResults::in_history(uint64_t lowered_hash) const {
  const MeasuredHistory& history = context_.history();
  for (size_t i = 0; i < history.size(); ++i) {
    if (history.lowered_hash(i) == lowered_hash) return history[i];
  }
  return std::nullopt;
}

std::vector<Measured> KnownResults::take_cut_round() {
  std::vector<Measured> rest = std::exchange(taken_.cut_round, {});
  for (const Measured& one : rest) log_.add(one, TrialLog::Kind::Recorded);
  return rest;
}

}  // namespace tunesmith
