#include "twins/independent_launches.h"

#include <algorithm>

#include "tunesmith/grid/launches.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith {
namespace {

/// The maximum number of interpreted block iterations: some tenths of a second.
constexpr int64_t kMaxIterations = 1 << 21;

std::vector<Buffer> distinct(const std::vector<Buffer>& buffers) {
  std::vector<Buffer> result;
  for (const Buffer& buffer : buffers) {
    if (std::ranges::find(result, buffer) == result.end()) result.push_back(buffer);
  }
  return result;
}

std::vector<Buffer> accessed(const Stmt& stmt, bool written) {
  std::vector<Buffer> buffers;
  walk_accesses(stmt, [&](const Stmt&, const AccessSite& access) {
    if ((access.load == nullptr) == written) buffers.push_back(access.buffer);
  });
  return distinct(buffers);
}

Buffer buffer_named(const Program& program, const std::string& name) {
  for (const Buffer& buffer : program.buffers()) {
    if (buffer->name == name) return buffer;
  }
  return nullptr;
}

int64_t iterations_of(const Stmt& stmt) {
  int64_t sum = 0;
  for (const Block* block : collect<Block>(stmt)) {
    int64_t iterations = 1;
    for (const IterVar& iter : block->iters) iterations *= iter.extent;
    sum += iterations;
  }
  return sum;
}

/// The stages of `program` that compute `output` from `inputs`; nothing if they need other inputs.
std::optional<Program> stages_between(const Program& program, const std::vector<Buffer>& inputs,
                                      const Buffer& output) {
  std::vector<const Stmt*> stages;
  std::vector<Buffer> needed{output};
  const std::vector<StmtPtr>& all = program.root().children();
  for (size_t i = all.size(); i-- > 0;) {
    const std::vector<Buffer> made = accessed(*all[i], true);
    if (std::ranges::none_of(made, [&](const Buffer& one) { return std::ranges::count(needed, one) > 0; }))
      continue;
    stages.push_back(all[i].get());
    for (const Buffer& read : accessed(*all[i], false)) {
      if (std::ranges::count(inputs, read) == 0) needed.push_back(read);
    }
  }
  Program part;
  part.inputs = inputs;
  part.outputs = {output};
  std::vector<Buffer> made;
  for (size_t i = stages.size(); i-- > 0;) {
    for (const Buffer& one : accessed(*stages[i], true)) made.push_back(one);
    part.root().append(stages[i]->clone());
  }
  for (const Buffer& buffer : distinct(needed)) {
    if (std::ranges::count(made, buffer) == 0) return std::nullopt;
    if (buffer != output) part.intermediates.push_back(buffer);
  }
  return part;
}

}  // namespace

bool is_lone(const Stmt& launch, const ExecutionModel& execution) {
  const bool shares = any_of_stmt(launch, [&](const Stmt& at) {
    if (at.kind == StmtKind::Barrier || at.kind == StmtKind::AsyncGroup || at.kind == StmtKind::AsyncWait ||
        at.kind == StmtKind::Handover)
      return true;
    const Loop* loop = at.as<Loop>();
    if (loop != nullptr && loop->annotations.contains(kTensorIntrinsic)) return true;
    const Allocate* allocate = at.as<Allocate>();
    if (allocate == nullptr) return false;
    const MemoryScope* scope = execution.find_scope(allocate->buffer->scope);
    return scope == nullptr || scope->owner != execution.levels.back().name;
  });
  if (shares) return false;
  std::vector<Buffer> written = accessed(launch, true);
  for (const Allocate* own : collect<Allocate>(launch)) std::erase(written, own->buffer);
  const std::vector<Buffer> read = accessed(launch, false);
  return written.size() == 1 && std::ranges::count(read, written.front()) == 0;
}

IndependentLaunches::IndependentLaunches(const Workload& workload, const ExecutionModel& execution)
    : workload_(workload), execution_(execution) {}

std::vector<size_t> IndependentLaunches::proven(const Program& lowered) const {
  const std::vector<const Stmt*> launches = launches_of(lowered, execution_);
  std::vector<size_t> found;
  for (size_t i = 0; i < launches.size(); ++i) {
    if (launches[i]->parent->kind != StmtKind::Seq || !is_lone(*launches[i], execution_)) continue;
    const std::string text = to_string(*launches[i]);
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(text); known != known_.end()) {
        if (known->second) found.push_back(i);
        continue;
      }
    }
    const bool right = computes_its_stages(*launches[i]);
    if (right) found.push_back(i);
    const std::lock_guard lock(mutex_);
    known_.emplace(text, right);
  }
  return found;
}

LoweredProgram without_launches(const LoweredProgram& lowered, const std::vector<size_t>& positions,
                                const ExecutionModel& execution) {
  LoweredProgram rest;
  rest.program = lowered.program.clone();
  rest.workspace = lowered.workspace;
  rest.workspace_bytes = lowered.workspace_bytes;
  const std::vector<const Stmt*> launches = launches_of(rest.program, execution);
  for (const size_t position : positions) {
    Seq& around = *launches[position]->parent->as<Seq>();
    around.remove(around.index_of(*launches[position]));
  }
  return rest;
}

bool IndependentLaunches::computes_its_stages(const Stmt& launch) const {
  Program alone;
  alone.inputs = accessed(launch, false);
  alone.outputs = accessed(launch, true);
  for (const Allocate* own : collect<Allocate>(launch)) {
    std::erase(alone.inputs, own->buffer);
    std::erase(alone.outputs, own->buffer);
  }
  const Buffer output = buffer_named(workload_.program, alone.outputs.front()->name);
  std::vector<Buffer> inputs;
  for (const Buffer& input : alone.inputs) inputs.push_back(buffer_named(workload_.program, input->name));
  if (output == nullptr || std::ranges::count(inputs, nullptr) > 0) return false;
  const std::optional<Program> stages = stages_between(workload_.program, inputs, output);
  if (!stages || iterations_of(stages->root()) > kMaxIterations) return false;
  alone.root().append(launch.clone());
  std::vector<Tensor> expected;
  for (size_t i = 0; i < inputs.size(); ++i) {
    expected.push_back(Tensor::like(*inputs[i]));
    expected.back().fill_random(i + 1);
    // The schedule transformed it: another buffer of the same name.
    if (alone.inputs[i]->shape != inputs[i]->shape || alone.inputs[i]->dtype != inputs[i]->dtype)
      return false;
  }
  if (alone.outputs.front()->shape != output->shape || alone.outputs.front()->dtype != output->dtype)
    return false;
  expected.push_back(Tensor::like(*output));
  std::vector<Tensor> found = expected;
  try {
    interpret(*stages, expected);
    interpret(alone, found);
  } catch (const InterpreterError&) {
    return false;  // The candidate then runs at its full shape, which shows the mistake.
  }
  return found.back() == expected.back();
}

}  // namespace tunesmith
