#include "worker/task_data.h"

#include <fmt/format.h>

#include "tunesmith/support/error.h"
#include "tunesmith/target/guarded_kernel.h"
#include "worker/time_kernel.h"

namespace tunesmith {
namespace {

/// A fault of the reference on a watching device is not a candidate's mistake.
void require_no_fault(LoadedKernel& reference) {
  if (const auto fault = reference.take_fault())
    throw EnvironmentError("the reference cannot be run: " + fault->message);
}

}  // namespace

TaskData::TaskData(const TaskRequest& request, Target& target, CallResources& resources)
    : target_(target), target_id_(request.target), resources_(resources), arguments_(request.arguments) {
  // Guard pages first: an access beyond a buffer is reported as that, and not as a wrong result.
  sets_.emplace_back(arguments_, Placement::AtEnd, kPoisonLarge);
  sets_.emplace_back(arguments_, Placement::Unaligned, kPoisonNaN);
  timed_ = std::make_unique<ArgumentMemory>(arguments_, Placement::OnPage);
  for (DataSet& set : sets_) set.memory.set_parameters(request.parameters);
  timed_->set_parameters(request.parameters);
  size_t result = 0;
  bool every_term = false;
  for (size_t set = 0; set < kDataKinds.size(); ++set) {
    const DataQuestion question = question_of(request, set);
    if (!request.fills.empty()) {
      take(request, question, set, result);
    } else {
      choose(request.references[set].kernel, sets_[set], question);
    }
    every_term = every_term || sees_every_term(question, fills_.back());
  }
  timed_->protect_inputs();
  static_assert(kDataKinds.front() == DataKind::Exact);
  if (!every_term && !draw_several_times(request.references.front().kernel, question_of(request, 0))) {
    throw UserError(
        fmt::format(
            "sums of {} terms cannot be verified: rounding hides all but about {} terms in each of {} sums",
            request.most_terms, fills_.front().terms, request.elements),
        "accumulate in a wider type");
  }
}

DataQuestion TaskData::question_of(const TaskRequest& request, size_t set) const {
  return {kDataKinds[set],   arguments_,       request.references[set].has_bound,   request.most_terms,
          request.data_seed, request.elements, request.exponentiates_below_maximum, request.edges};
}

void TaskData::set_inputs(DataSet& data, const std::vector<Tensor>& inputs) {
  data.memory.write_inputs(inputs);
  if (&data == &sets_.back()) timed_->write_inputs(inputs);
}

void TaskData::choose(const CompiledKernel& reference, DataSet& data, const DataQuestion& question) {
  const std::unique_ptr<LoadedKernel> loaded = load_guarded(target_, target_id_, reference);
  const RunReference run = runner_of(reference, *loaded);
  DrawnData drawn = choose_data(question, run);
  require_no_fault(*loaded);
  Fill& fill = fills_.emplace_back(drawn.fill);
  set_inputs(data, drawn.inputs);
  if (fill.draws > 1 && take_draws(data, fill, draw_all(question, fill, run))) return;
  if (question.kind == DataKind::Exact && hides_a_term(question, drawn, run) &&
      take_draws(data, fill, choose_several_draws(question, run)))
    return;
  fill.draws = 1;
  data.draws.push_back({{}, std::move(drawn.expected)});
}

bool TaskData::take_draws(DataSet& data, Fill& fill, std::vector<DrawnData> draws) {
  if (draws.empty()) return false;
  fill = draws.front().fill;
  data.draws.clear();
  for (DrawnData& draw : draws) data.draws.push_back({std::move(draw.inputs), std::move(draw.expected)});
  // A candidate's last results are compared with those of the timed calls.
  set_inputs(data, data.draws.back().inputs);
  return true;
}

bool TaskData::draw_several_times(const CompiledKernel& reference, const DataQuestion& question) {
  const std::unique_ptr<LoadedKernel> loaded = load_guarded(target_, target_id_, reference);
  std::vector<DrawnData> draws = choose_several_draws(question, runner_of(reference, *loaded));
  require_no_fault(*loaded);
  return take_draws(sets_.front(), fills_.front(), std::move(draws));
}

RunReference TaskData::runner_of(const CompiledKernel& reference, const LoadedKernel& loaded) {
  GuardedBuffer* const space = resources_.workspace(reference.workspace_bytes);
  return [this, &loaded, space](std::span<Tensor> tensors) {
    std::vector<void*> pointers;
    for (Tensor& tensor : tensors) pointers.push_back(tensor.bytes.data());
    time_call({loaded.entry(), pointers, space == nullptr ? nullptr : space->data(), resources_.pool()});
  };
}

void TaskData::take(const TaskRequest& request, const DataQuestion& question, size_t set, size_t& result) {
  const Fill& fill = request.fills[set];
  for (int64_t number = 0; number < fill.draws; ++number) {
    Draw& draw = sets_[set].draws.emplace_back();
    for (const Argument& argument : arguments_) {
      if (argument.output) draw.expected.emplace_back(argument.buffer, request.results[result++]);
    }
    if (fill.draws > 1) draw.inputs = draw_inputs(question, fill, number);
  }
  set_inputs(sets_[set], draw_inputs(question, fill, fill.draws - 1));
  fills_.push_back(fill);
}

ReadyReply TaskData::ready() const {
  ReadyReply ready{fills_, {}};
  for (const DataSet& data : sets_) {
    for (const Draw& draw : data.draws) {
      for (const ExpectedOutput& expected : draw.expected) ready.results.push_back(expected.bytes());
    }
  }
  return ready;
}

void TaskData::hold(DataSet& data) {
  // A verification that ended early has left the inputs of an earlier draw.
  if (data.draws.size() > 1) data.memory.write_inputs(data.draws.back().inputs);
  timed_->take_inputs(data.memory);
  timed_->poison_outputs(kPoisonNaN);
}

}  // namespace tunesmith
