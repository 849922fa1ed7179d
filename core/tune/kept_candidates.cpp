#include "tune/kept_candidates.h"

#include <algorithm>

#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

/// Few instructions differ in nothing of this; the rest is compared.
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

bool same(const Instruction& a, const Instruction& b) {
  return a.kind == b.kind && a.args == b.args && a.outputs == b.outputs && a.decision == b.decision &&
         a.counts_buffers == b.counts_buffers;
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
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const SamplingPoint& x, const SamplingPoint& y) {
                      return x.position == y.position && x.kind == y.kind && x.domain == y.domain;
                    });
}

/// What finishing modules drew is not drawn again: it must be kept.
bool draws_when_finished(const Trace& trace) {
  for (size_t i = trace.finishing(); i < trace.size(); ++i) {
    if (trace[i].kind->sort() == InstructionSort::Sampling) return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<const Instruction> KeptCandidates::shared(
    const std::shared_ptr<const Instruction>& instruction) {
  std::vector<std::shared_ptr<const Instruction>>& known = instructions_[hash_of(*instruction)];
  const auto found =
      std::ranges::find_if(known, [&](const auto& other) { return same(*other, *instruction); });
  if (found != known.end()) return *found;
  known.push_back(instruction);
  return instruction;
}

SamplingPoints KeptCandidates::shared(const SamplingPoints& points) {
  std::vector<SamplingPoints>& known = points_[hash_of(points)];
  const auto found = std::ranges::find_if(known, [&](const auto& other) { return same(other, points); });
  if (found != known.end()) return *found;
  known.push_back(points);
  return points;
}

CandidatePtr KeptCandidates::keep(const Candidate& candidate) {
  auto kept = std::make_shared<Candidate>();
  const size_t end =
      draws_when_finished(candidate.trace) ? candidate.trace.size() : candidate.trace.finishing();
  Trace trace;
  for (size_t i = 0; i < end; ++i) trace.append(shared(candidate.trace.shared(i)));
  kept->trace = trace;  // a copy takes no more memory than it needs
  kept->points = shared(candidate.points);
  kept->lowered_hash = candidate.lowered_hash;
  return kept;
}

}  // namespace tunesmith
