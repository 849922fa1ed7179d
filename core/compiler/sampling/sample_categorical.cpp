#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "trace/kind_builder.h"

namespace tunesmith {
namespace {

class SampleCategorical final : public SamplingKindBase {
 public:
  SampleCategorical()
      : SamplingKindBase("sample_categorical",
                         {{"candidates", ParamType::Ints}, {"probabilities", ParamType::Doubles}},
                         ResultType::Int) {}

  Decision propose(const SamplingDomain& domain, RandomStream& random) const override {
    return {static_cast<int64_t>(random.categorical(domain.weights))};
  }

  std::optional<Decision> mutate(const SamplingDomain& domain, const Decision& current,
                                 RandomStream& random) const override {
    std::vector<double> others = domain.weights;
    others[static_cast<size_t>(current[0])] = 0;
    if (std::all_of(others.begin(), others.end(), [](double weight) { return weight == 0; }))
      return std::nullopt;
    return Decision{static_cast<int64_t>(random.categorical(others))};
  }

  std::vector<Decision> enumerate(const SamplingDomain& domain, const Decision& current) const override {
    std::vector<Decision> others;
    for (size_t i = 0; i < domain.weights.size(); ++i) {
      const auto index = static_cast<int64_t>(i);
      if (index != current[0] && domain.weights[i] > 0) others.push_back({index});
    }
    return others;
  }

  /// The candidate with the same value. If there is none, the nearest one of increasing candidates; of others
  /// the old index.
  Decision carry_over(const Decision& decision, std::span<const Arg> from,
                      std::span<const Arg> to) const override {
    const std::vector<int64_t> theirs = listed(from);
    const std::vector<int64_t> ours = listed(to);
    if (ours.empty() || decision.empty() || static_cast<size_t>(decision[0]) >= theirs.size())
      return decision;
    const int64_t value = theirs[static_cast<size_t>(decision[0])];
    const auto same = std::ranges::find(ours, value);
    if (same == ours.end() && !std::ranges::is_sorted(ours, std::less_equal<>())) return decision;
    const auto nearest =
        std::ranges::min_element(ours, {}, [&](int64_t candidate) { return std::abs(candidate - value); });
    return {(same != ours.end() ? same : nearest) - ours.begin()};
  }

  Decision repair(const SamplingDomain& domain, const Decision& wanted) const override {
    const auto last = static_cast<int64_t>(domain.candidates.size()) - 1;
    return {std::clamp<int64_t>(wanted.empty() ? 0 : wanted[0], 0, last)};
  }

  uint64_t count(const SamplingDomain& domain) const override {
    return static_cast<uint64_t>(
        std::ranges::count_if(domain.weights, [](double weight) { return weight > 0; }));
  }

  /// The candidates with positive probability, in the instruction's order.
  Decision at(const SamplingDomain& domain, uint64_t index) const override {
    for (size_t i = 0; i < domain.weights.size(); ++i) {
      if (domain.weights[i] > 0 && index-- == 0) return {static_cast<int64_t>(i)};
    }
    throw InternalError("a number of a category is below their count");
  }

  /// Increasing candidates are an ordered quantity, encoded by rank; other candidates are one-hot encoded.
  std::vector<double> encode(const SamplingDomain& domain, const Decision& decision) const override {
    const size_t size = domain.candidates.size();
    if (std::ranges::is_sorted(domain.candidates, std::less_equal<>()))
      return {size > 1 ? static_cast<double>(decision[0]) / static_cast<double>(size - 1) : 0.0};
    std::vector<double> taken(size, 0.0);
    taken[static_cast<size_t>(decision[0])] = 1.0;
    return taken;
  }

 private:
  /// The candidates of the instruction; empty if one is a variable of the trace.
  static std::vector<int64_t> listed(std::span<const Arg> args) {
    std::vector<int64_t> candidates;
    for (const Arg& item : std::get<ArgList>(args.front())) {
      const auto* number = std::get_if<int64_t>(&item);
      if (number == nullptr) return {};
      candidates.push_back(*number);
    }
    return candidates;
  }

 protected:
  SamplingDomain domain(const Program& program, const Arguments& args) const override {
    SamplingDomain domain;
    domain.candidates = args.integers(0);
    domain.weights = args.doubles(1);
    const auto refuse = [&](std::string_view reason, std::string detail) {
      throw ScheduleMisuse(name(), reason, std::move(detail), program);
    };
    if (domain.candidates.empty()) refuse("there are no candidates", "");
    if (domain.candidates.size() != domain.weights.size()) {
      refuse("the numbers of probabilities and candidates differ",
             fmt::format("{} and {}", domain.weights.size(), domain.candidates.size()));
    }
    const double sum = std::accumulate(domain.weights.begin(), domain.weights.end(), 0.0);
    if (std::any_of(domain.weights.begin(), domain.weights.end(),
                    [](double weight) { return !(weight >= 0); }) ||
        !(std::abs(sum - 1) < 0.01)) {
      refuse("the probabilities are not between 0 and 1 with sum 1", fmt::format("their sum is {}", sum));
    }
    return domain;
  }

  std::vector<Value> outputs(const Program&, const Arguments&, const SamplingDomain& domain,
                             const Decision& decision) const override {
    return {domain.candidates[static_cast<size_t>(decision[0])]};
  }
};

}  // namespace

KindPtr sample_categorical_kind() { return std::make_unique<SampleCategorical>(); }

IntRV Schedule::sample_categorical(std::vector<int64_t> candidates, std::vector<double> probabilities) {
  return as_handle<IntRV>(execute(
      kind("sample_categorical"),
      {ArgList(candidates.begin(), candidates.end()), ArgList(probabilities.begin(), probabilities.end())}));
}

}  // namespace tunesmith
