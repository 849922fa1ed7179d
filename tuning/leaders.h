// The fastest programs so far.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "tunesmith/search/candidate.h"

namespace tunesmith {

class Leaders {
 public:
  explicit Leaders(int kept) : kept_(static_cast<size_t>(std::max(kept, 1))) {}

  /// Of equal times, the earlier one leads.
  void add(const Measured& result) {
    if (!result.timing) return;
    insert(fastest_, {result.timing->min, result}, kept_);
    for (const TimeAt& at : result.timing->at) insert(fastest_at_[at.values], {at.seconds, result}, kKeptAt);
  }

  /// The fastest first, then the fastest with each values of the program's parameters, then the others,
  /// faster ones first.
  std::vector<Measured> all() const {
    std::vector<Measured> all;
    const auto add = [&](const Measured& one) {
      const auto same = [&](const Measured& known) { return known.candidate == one.candidate; };
      if (std::ranges::none_of(all, same)) all.push_back(one);
    };
    if (!fastest_.empty()) add(fastest_.front().measured);
    for (const auto& [values, leaders] : fastest_at_)
      for (const Leader& leader : leaders) add(leader.measured);
    for (const Leader& leader : fastest_) add(leader.measured);
    return all;
  }
  /// 0 if there is none.
  double seconds() const { return fastest_.empty() ? 0.0 : fastest_.front().seconds; }

 private:
  static constexpr size_t kKeptAt = 2;

  struct Leader {
    double seconds = 0.0;
    Measured measured;
  };

  static void insert(std::vector<Leader>& leaders, Leader one, size_t kept) {
    const auto place = std::ranges::upper_bound(leaders, one.seconds, {}, &Leader::seconds);
    leaders.insert(place, std::move(one));
    if (leaders.size() > kept) leaders.pop_back();
  }

  size_t kept_;
  std::vector<Leader> fastest_;
  std::map<std::vector<int64_t>, std::vector<Leader>> fastest_at_;  // by values of parameters
};

}  // namespace tunesmith
