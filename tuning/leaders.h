// The fastest programs so far.
#pragma once

#include <algorithm>
#include <vector>

#include "tunesmith/search/candidate.h"

namespace tunesmith {

class Leaders {
 public:
  explicit Leaders(int kept) : kept_(static_cast<size_t>(std::max(kept, 1))) {}

  /// Of equal times, the earlier one leads.
  void add(const Measured& result) {
    if (!result.timing) return;
    const auto place =
        std::upper_bound(fastest_.begin(), fastest_.end(), result,
                         [](const Measured& a, const Measured& b) { return a.timing->min < b.timing->min; });
    fastest_.insert(place, result);
    if (fastest_.size() > kept_) fastest_.pop_back();
  }

  /// Fastest first.
  const std::vector<Measured>& all() const { return fastest_; }
  /// 0 if there is none.
  double seconds() const { return fastest_.empty() ? 0.0 : fastest_.front().timing->min; }

 private:
  size_t kept_;
  std::vector<Measured> fastest_;
};

}  // namespace tunesmith
