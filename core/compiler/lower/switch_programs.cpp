#include "tunesmith/lower/switch_programs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

std::vector<Buffer> allocated_in(const Stmt& stmt) {
  std::vector<Buffer> buffers;
  walk(stmt, [&](const Stmt& one) {
    if (const Allocate* allocate = one.as<Allocate>()) buffers.push_back(allocate->buffer);
  });
  return buffers;
}

/// The preparation of one of the joined programs.
struct Preparation {
  uint64_t hash = 0;
  std::vector<Buffer> reads;
  std::vector<Buffer> makes;

  bool operator==(const Preparation& other) const { return hash == other.hash && reads == other.reads; }
};

class Switch {
 public:
  Switch(const LoweredProgram& first, size_t parameter) {
    const size_t prepared = first.prepared.size();
    Program& program = joined_.program;
    program.name = first.program.name;
    program.parameters = first.program.parameters;
    program.annotations = first.program.annotations;
    program.inputs = first.program.inputs;
    program.inputs.resize(program.inputs.size() - prepared);
    program.outputs = first.program.outputs;
    given_ = program.inputs;
    value_ = program.parameters.at(parameter).var;
  }

  void add(const ProgramOfInterval& part) {
    const LoweredProgram& lowered = *part.lowered;
    Program program = lowered.program.clone();
    take_arguments(lowered.program, program);
    if (lowered.prepare) add_prepared(lowered, program);
    const Expr here = logical_and(le(part.lowest, value_), le(value_, part.highest));
    Substitution fresh;
    StmtPtr body = fresh_copy(joined_.program, program.root(), &fresh);
    add_workspace(lowered, allocated_in(program.root()), allocated_in(*body), joined_);
    joined_.program.root().append(std::make_unique<If>(here, std::move(body)));
  }

  LoweredProgram take() { return std::move(joined_); }

 private:
  /// Replaces the arguments of `own` in `program` by those of the joined program.
  void take_arguments(const Program& own, Program& program) const {
    for (const auto& parameter : joined_.program.parameters)
      check_invariant(
          std::ranges::find(own.parameters, parameter.var, &ExtentParameter::var) != own.parameters.end(),
          "programs that are joined have the same parameters");
    const auto swap = [&](const std::vector<Buffer>& from, const std::vector<Buffer>& to) {
      for (size_t i = 0; i < to.size(); ++i)
        if (from.at(i) != to[i]) program.swap_buffer(from[i], to[i]);
    };
    swap(own.inputs, given_);
    swap(own.outputs, joined_.program.outputs);
  }

  static void add_workspace(const LoweredProgram& from, const std::vector<Buffer>& before,
                            const std::vector<Buffer>& now, LoweredProgram& to) {
    for (const WorkspaceSlot& slot : from.workspace) {
      const auto place = std::ranges::find(before, slot.buffer) - before.begin();
      to.workspace.push_back({now.at(static_cast<size_t>(place)), slot.offset});
    }
    to.workspace_bytes = std::max(to.workspace_bytes, from.workspace_bytes);
  }

  void add_prepared(const LoweredProgram& lowered, Program& program) {
    Program prepare = lowered.prepare->program.clone();
    take_arguments_of_prepare(lowered.program, prepare);
    Preparation made{lowered_hash(*lowered.prepare), prepare.inputs, {}};
    const auto known = std::ranges::find(prepared_, made);
    if (known != prepared_.end()) {
      for (size_t i = 0; i < lowered.prepared.size(); ++i)
        program.swap_buffer(lowered.prepared[i].buffer, known->makes[i]);
      return;
    }
    for (const WorkspaceSlot& slot : lowered.prepared) {
      const BufferNode& old = *slot.buffer;
      const Buffer own = make_buffer(joined_.program.fresh_buffer_name(old.name), old.dtype, old.shape,
                                     old.scope, old.constant, old.strides, old.swizzle);
      program.swap_buffer(slot.buffer, own);
      prepare.swap_buffer(slot.buffer, own);
      joined_.program.inputs.push_back(own);
      joined_.prepared.push_back({own, joined_.prepared_bytes + slot.offset});
      made.makes.push_back(own);
    }
    joined_.prepared_bytes += lowered.prepared_bytes;
    add_preparing(*lowered.prepare, prepare);
    prepared_.push_back(std::move(made));
  }

  void take_arguments_of_prepare(const Program& own, Program& prepare) const {
    for (size_t i = 0; i < given_.size(); ++i)
      if (own.inputs[i] != given_[i]) prepare.swap_buffer(own.inputs[i], given_[i]);
  }

  /// Appends to the joined preparation.
  void add_preparing(const LoweredProgram& lowered, const Program& prepare) {
    if (!joined_.prepare) {
      joined_.prepare = std::make_unique<LoweredProgram>();
      joined_.prepare->program.name = joined_.program.name + "_prepare";
      joined_.prepare->program.parameters = joined_.program.parameters;
    }
    Program& all = joined_.prepare->program;
    for (const Buffer& input : given_) {
      if (std::ranges::find(prepare.inputs, input) != prepare.inputs.end() &&
          std::ranges::find(all.inputs, input) == all.inputs.end())
        all.inputs.push_back(input);
    }
    all.outputs.insert(all.outputs.end(), prepare.outputs.begin(), prepare.outputs.end());
    Substitution fresh;
    StmtPtr body = fresh_copy(all, prepare.root(), &fresh);
    add_workspace(lowered, allocated_in(prepare.root()), allocated_in(*body), *joined_.prepare);
    all.root().append(std::move(body));
  }

  LoweredProgram joined_;
  Expr value_ = 0;
  std::vector<Buffer> given_;
  std::vector<Preparation> prepared_;
};

}  // namespace

LoweredProgram switch_programs(size_t parameter, std::span<const ProgramOfInterval> parts) {
  check_invariant(!parts.empty(), "something to choose from");
  Switch joined(*parts.front().lowered, parameter);
  for (const ProgramOfInterval& part : parts) joined.add(part);
  return joined.take();
}

}  // namespace tunesmith
