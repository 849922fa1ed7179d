#include "tunesmith/proposals/prior.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

static_assert(std::endian::native == std::endian::little,
              "a prior's numbers are written as they lie in memory");

/// Raise it also when features change: weights learned on other features are invalid.
constexpr int kPriorVersion = 2;
constexpr std::string_view kPriorHead = "# tunesmith prior ";
constexpr std::string_view kBetween = "; ";

std::vector<std::string> parts_of(const std::string& line) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(kBetween, at), line.size());
    parts.push_back(line.substr(at, end - at));
    at = end + kBetween.size();
  }
  return parts;
}

}  // namespace

Prior::Row Prior::hidden(const ChoiceFeatures& choice) const {
  Row sum = bias_;
  for (size_t i = 0; i < kPriorNumbers; ++i) {
    for (size_t h = 0; h < kHidden; ++h) sum[h] += choice.numbers[i] * numbers_[i][h];
  }
  for (const uint32_t name : choice.names) {
    const Row& row = names_[name % kBuckets];
    for (size_t h = 0; h < kHidden; ++h) sum[h] += row[h];
  }
  return sum;
}

std::vector<double> Prior::logits(std::span<const ChoiceFeatures> choices) const {
  std::vector<double> logits;
  for (const ChoiceFeatures& choice : choices) {
    const Row sum = hidden(choice);
    float logit = 0;
    for (size_t h = 0; h < kHidden; ++h) logit += out_[h] * std::max(0.0F, sum[h]);
    logits.push_back(logit);
  }
  return logits;
}

std::string Prior::save() const {
  std::string numbers;
  const auto add = [&](const void* from, size_t bytes) {
    numbers.append(static_cast<const char*>(from), bytes);
  };
  add(numbers_.data(), numbers_.size() * sizeof(Row));
  add(names_.data(), names_.size() * sizeof(Row));
  add(&bias_, sizeof bias_);
  add(&out_, sizeof out_);
  std::vector<std::string> sketches;
  for (const uint64_t sketch : sketches_) sketches.push_back(hex64(sketch));
  const std::string learned =
      fmt::format("machines {}\nsketches {}\n{}", fmt::join(source.machines, kBetween),
                  fmt::join(sketches, kBetween), numbers);
  return fmt::format("{}{}\nsequence {}\nspace {}\ntasks {}\nprograms {}\nseed {}\nhash {}\n{}", kPriorHead,
                     kPriorVersion, kSequenceVersion, source.space, source.tasks, source.programs,
                     source.seed, hex64(hash_bytes(learned)), learned);
}

Prior Prior::load(std::string_view bytes, const std::string& file) {
  const auto refuse = [&](const std::string& why) -> UserError {
    return {SourceLocation{file}, why, "retrain it: tunesmith prior train"};
  };
  Prior prior;
  size_t at = 0;
  const auto value = [&](std::string_view name) {
    const size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos || !bytes.substr(at).starts_with(name))
      throw refuse(fmt::format("not a prior: it has no '{}'", name));
    const std::string_view found = bytes.substr(at + name.size(), end - at - name.size());
    at = end + 1;
    return std::string(found);
  };
  const auto number = [&](std::string_view name) {
    std::istringstream text(value(name));
    uint64_t read = 0;
    if (!(text >> read)) throw refuse(fmt::format("the number of '{}' is damaged", name));
    return read;
  };
  if (const uint64_t version = number(kPriorHead); version != kPriorVersion)
    throw refuse(
        fmt::format("a prior of version {}; this Tunesmith reads version {}", version, kPriorVersion));
  if (const uint64_t version = number("sequence "); version != kSequenceVersion)
    throw refuse(fmt::format("a prior over sequences of version {}, not {}", version, kSequenceVersion));
  prior.source.space = value("space ");
  prior.source.tasks = static_cast<int64_t>(number("tasks "));
  prior.source.programs = static_cast<int64_t>(number("programs "));
  prior.source.seed = number("seed ");
  const std::string hash = value("hash ");
  if (hex64(hash_bytes(bytes.substr(at))) != hash) throw refuse("the prior's parameters are damaged");
  for (std::string& machine : parts_of(value("machines "))) prior.source.machines.insert(std::move(machine));
  for (const std::string& sketch : parts_of(value("sketches ")))
    prior.sketches_.insert(std::stoull(sketch, nullptr, 16));
  const std::string_view numbers = bytes.substr(at);
  if (numbers.size() != (kPriorNumbers + kBuckets + 2) * sizeof(Row))
    throw refuse("the numbers of this prior are damaged");
  const char* from = numbers.data();
  const auto take = [&from](void* to, size_t size) {
    std::memcpy(to, from, size);
    from += size;
  };
  take(prior.numbers_.data(), prior.numbers_.size() * sizeof(Row));
  take(prior.names_.data(), prior.names_.size() * sizeof(Row));
  take(&prior.bias_, sizeof(Row));
  take(&prior.out_, sizeof(Row));
  return prior;
}

size_t draw_choice(std::span<const double> logits, double temperature, RandomStream& random) {
  const double most = *std::ranges::max_element(logits);
  std::vector<double> weights;
  for (const double logit : logits) weights.push_back(std::exp((logit - most) / temperature));
  return random.categorical(weights);
}

}  // namespace tunesmith
