// What a program's rows say of its speed, learnt: the prediction of a program is the sum of a function of
// each of its rows, and the function is a sum of boosted trees. Only the sums are compared with what was
// measured, by the squared error weighted with the throughput, so that the fast programs count most.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tunesmith/features/features.h>

#include "booster.h"
#include "settings.h"

namespace tunesmith::xgboost {

/// What is learnt follows from the settings and the programs in their order, and not from how many of them
/// come at a time. Objects share nothing.
class PackSum {
 public:
  explicit PackSum(const Settings& settings);

  /// Learns from all that is known: what was known before comes first, in the same order. `throughputs` are
  /// in [0, 1]; those from `current` on are of one task, and are taken relative to the best among them.
  /// Programs beyond a multiple of learn_every wait.
  void learn(std::span<const FeatureRows* const> programs, std::span<const double> throughputs,
             size_t current = 0);
  /// Is the n-th program one that trees are never grown on?
  bool is_held_out(size_t n) const;
  bool learnt() const { return booster_.has_value(); }
  /// One for each program; all 0 before anything has been learnt.
  std::vector<double> predict(std::span<const FeatureRows* const> programs) const;
  /// Trees so far.
  int trees() const { return booster_ ? booster_->trees() : 0; }

  /// What has been learnt, as bytes; "" when nothing has.
  std::string save() const;
  /// Throws UserError when the bytes are no such thing, or were made for other columns of features.
  void load(std::string_view saved);

 private:
  class Batch;
  Parameters parameters() const;
  void learn_first(std::span<const FeatureRows* const> programs, std::span<const double> throughputs,
                   size_t current, bool anew);
  void forget();

  Settings settings_;
  std::string loaded_;  // what is learnt on; "" for nothing
  std::optional<Booster> booster_;
  size_t learnt_ = 0;       // programs so far
  size_t learnt_anew_ = 0;  // programs when the trees were last grown from what was loaded
};

}  // namespace tunesmith::xgboost
