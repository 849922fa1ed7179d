#include "tunesmith/search/measured_history.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

/// A cheap hash: few instructions agree in these fields; comparison decides.
uint64_t hash_of(const Instruction& instruction) {
  uint64_t hash = hash_bytes(instruction.kind->name());
  for (const TraceVar& output : instruction.outputs) hash = hash_combine(hash, output.index);
  for (const Arg& arg : instruction.args) {
    if (const auto* var = std::get_if<TraceVar>(&arg)) hash = hash_combine(hash, var->index);
  }
  if (instruction.decision) {
    for (const int64_t number : *instruction.decision)
      hash = hash_combine(hash, static_cast<uint64_t>(number));
  }
  return hash;
}

bool same(const std::shared_ptr<const Instruction>& a, const std::shared_ptr<const Instruction>& b) {
  return a->kind == b->kind && a->args == b->args && a->outputs == b->outputs && a->decision == b->decision &&
         a->counts_buffers == b->counts_buffers;
}

uint64_t hash_of(const SamplingPoints& points) {
  uint64_t hash = points.size();
  for (const SamplingPoint& point : points) {
    hash = hash_combine(hash_combine(hash, point.position), static_cast<uint64_t>(point.domain.extent));
    for (const int64_t candidate : point.domain.candidates)
      hash = hash_combine(hash, static_cast<uint64_t>(candidate));
  }
  return hash;
}

bool same(const SamplingPoints& a, const SamplingPoints& b) {
  return std::ranges::equal(a, b, [](const SamplingPoint& x, const SamplingPoint& y) {
    return x.position == y.position && x.kind == y.kind && x.domain == y.domain;
  });
}

using Numbers = std::vector<uint32_t>;

uint64_t hash_of(const Numbers& numbers) {
  uint64_t hash = numbers.size();
  for (const uint32_t number : numbers) hash = hash_combine(hash, number);
  return hash;
}

bool same(const Numbers& a, const Numbers& b) { return a == b; }

/// Stores equal values once, and numbers them.
template <typename T>
class Pool {
 public:
  uint32_t number(const T& value, uint64_t hash) {
    std::vector<uint32_t>& numbers = by_hash_[hash];
    for (const uint32_t known : numbers) {
      if (same(values_[known], value)) return known;
    }
    numbers.push_back(static_cast<uint32_t>(values_.size()));
    values_.push_back(value);
    return numbers.back();
  }
  const T& operator[](uint32_t number) const { return values_[number]; }

 private:
  std::vector<T> values_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> by_hash_;  // only looked up, never iterated
};

bool is_sampling(const Instruction& instruction) {
  return instruction.kind->sort() == InstructionSort::Sampling;
}

/// How much of the trace to keep: with the finishing part only if it has samplings.
size_t kept_length(const Trace& trace) {
  const size_t finishing = trace.finishing();
  for (size_t i = finishing; i < trace.size(); ++i) {
    if (is_sampling(trace[i])) return trace.size();
  }
  return finishing;
}

/// Represents a sampling instruction in a trace's form.
constexpr uint32_t kDrawn = UINT32_MAX;

struct Entry {
  uint64_t lowered_hash = 0;
  double min = 0.0;
  double median = 0.0;
  double prepare = 0.0;
  size_t drawn = 0;    // the index of its first sampling instruction
  size_t samples = 0;  // the index of its first sample; for failures also the end
  uint32_t form = 0;
  uint32_t points = 0;
};

}  // namespace

struct MeasuredHistory::Storage {
  std::vector<Entry> entries;
  /// The parts of traces: numbered instructions, and a form
  /// shared by all traces that differ only in decisions.
  Pool<std::shared_ptr<const Instruction>> instructions;
  Pool<Numbers> forms;
  Numbers drawn;
  Pool<SamplingPoints> points;
  std::vector<double> samples;
  std::vector<std::pair<size_t, CandidateFailure>> failures;  // by entry, ascending

  std::span<const double> samples_of(size_t i) const {
    const size_t end = i + 1 < entries.size() ? entries[i + 1].samples : samples.size();
    return std::span(samples).subspan(entries[i].samples, end - entries[i].samples);
  }
  Trace trace_of(const Entry& entry) const {
    Trace trace;
    size_t next = entry.drawn;
    for (const uint32_t number : forms[entry.form])
      trace.append(instructions[number == kDrawn ? drawn[next++] : number]);
    return trace;
  }
};

MeasuredHistory::MeasuredHistory() : storage_(std::make_unique<Storage>()) {}
MeasuredHistory::~MeasuredHistory() = default;
MeasuredHistory::MeasuredHistory(MeasuredHistory&& other) noexcept = default;
MeasuredHistory& MeasuredHistory::operator=(MeasuredHistory&& other) noexcept = default;

void MeasuredHistory::add(const Measured& result) {
  Storage& all = *storage_;
  const Candidate& candidate = *result.candidate;
  Entry entry;
  entry.lowered_hash = candidate.lowered_hash;
  entry.drawn = all.drawn.size();
  entry.samples = all.samples.size();
  Numbers form;
  for (size_t i = 0; i < kept_length(candidate.trace); ++i) {
    const std::shared_ptr<const Instruction>& instruction = candidate.trace.shared(i);
    const uint32_t number = all.instructions.number(instruction, hash_of(*instruction));
    form.push_back(is_sampling(*instruction) ? kDrawn : number);
    if (is_sampling(*instruction)) all.drawn.push_back(number);
  }
  entry.form = all.forms.number(form, hash_of(form));
  entry.points = all.points.number(candidate.points, hash_of(candidate.points));
  if (result.timing) {
    entry.min = result.timing->min;
    entry.median = result.timing->median;
    entry.prepare = result.timing->prepare;
    all.samples.insert(all.samples.end(), result.timing->samples.begin(), result.timing->samples.end());
  }
  if (result.failure) all.failures.emplace_back(all.entries.size(), *result.failure);
  all.entries.push_back(entry);
}

size_t MeasuredHistory::size() const { return storage_->entries.size(); }

Measured MeasuredHistory::operator[](size_t i) const {
  const Storage& all = *storage_;
  const Entry& entry = all.entries[i];
  auto candidate = std::make_shared<Candidate>();
  candidate->trace = all.trace_of(entry);
  candidate->points = all.points[entry.points];
  candidate->lowered_hash = entry.lowered_hash;
  Measured result{std::move(candidate), std::nullopt, std::nullopt};
  if (const std::span<const double> samples = all.samples_of(i); !samples.empty())
    result.timing = Timing{entry.min, entry.median, {samples.begin(), samples.end()}, entry.prepare};
  const auto failure =
      std::ranges::lower_bound(all.failures, i, {}, &std::pair<size_t, CandidateFailure>::first);
  if (failure != all.failures.end() && failure->first == i) result.failure = failure->second;
  return result;
}

uint64_t MeasuredHistory::lowered_hash(size_t i) const { return storage_->entries[i].lowered_hash; }

std::optional<double> MeasuredHistory::seconds(size_t i) const {
  if (storage_->samples_of(i).empty()) return std::nullopt;
  return storage_->entries[i].min;
}

std::vector<Measured> MeasuredHistory::since(size_t begin) const {
  std::vector<Measured> results;
  for (size_t i = begin; i < size(); ++i) results.push_back((*this)[i]);
  return results;
}

std::vector<CandidatePtr> MeasuredHistory::fastest(size_t n) const {
  std::vector<size_t> places;
  for (size_t i = 0; i < size(); ++i) {
    if (seconds(i)) places.push_back(i);
  }
  std::ranges::stable_sort(places, {}, [&](size_t i) { return storage_->entries[i].min; });
  std::vector<CandidatePtr> candidates;
  for (const size_t i : places) {
    if (candidates.size() == n) break;
    candidates.push_back((*this)[i].candidate);
  }
  return candidates;
}

}  // namespace tunesmith
