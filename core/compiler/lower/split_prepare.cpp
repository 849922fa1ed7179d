#include <algorithm>
#include <optional>
#include <unordered_set>

#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

// Only looked up by address, never iterated.
using BufferSet = std::unordered_set<const BufferNode*>;

/// A statement of the root: its accesses, and whether it runs ahead of time.
struct Part {
  BufferSet reads;
  BufferSet writes;
  bool ahead = true;
};

Part part_of(const Stmt& stmt) {
  Part part;
  walk_accesses(stmt, [&](const Stmt&, const AccessSite& access) {
    (access.load != nullptr ? part.reads : part.writes).insert(access.buffer.get());
  });
  return part;
}

class Splitter {
 public:
  explicit Splitter(const Program& program) {
    for (const Buffer& input : program.inputs)
      (input->constant ? constants_ : variables_).insert(input.get());
    for (const Buffer& output : program.outputs) variables_.insert(output.get());
    for (const StmtPtr& child : program.root().children()) parts_.push_back(part_of(*child));
  }

  /// For each statement of the root, whether it runs ahead of time; empty if none does.
  std::vector<bool> run() {
    while (drop_dependent() || drop_independent()) {
    }
    std::vector<bool> ahead;
    for (const Part& part : parts_) ahead.push_back(part.ahead);
    return contains(ahead, true) ? ahead : std::vector<bool>{};
  }

 private:
  /// Excludes statements that need values known only at a call; true if there was one.
  bool drop_dependent() {
    bool dropped = false;
    for (Part& part : parts_) {
      if (!part.ahead) continue;
      part.ahead =
          std::all_of(part.reads.begin(), part.reads.end(),
                      [&](const BufferNode* read) { return constants_.contains(read) || is_ready(read); }) &&
          std::all_of(part.writes.begin(), part.writes.end(),
                      [&](const BufferNode* written) { return is_ready(written); });
      dropped = dropped || !part.ahead;
    }
    return dropped;
  }

  /// True for an intermediate that is written ahead of time only, and completely before any other statement
  /// reads it.
  bool is_ready(const BufferNode* buffer) const {
    if (variables_.contains(buffer) || constants_.contains(buffer) || buffer->scope != kScopeGlobal)
      return false;
    bool read = false;
    for (const Part& part : parts_) {
      const bool writes = part.writes.contains(buffer);
      if (writes && (!part.ahead || read)) return false;
      read = read || (!part.ahead && part.reads.contains(buffer));
    }
    return true;
  }

  /// Excludes statements that do not depend on constant inputs (a table of numbers, an initialisation) but
  /// whose results other statements use; true if there was one.
  bool drop_independent() {
    BufferSet derived = constants_;
    for (bool grown = true; grown;) {
      grown = false;
      for (const Part& part : parts_) {
        if (!part.ahead || !touches(part.reads, derived)) continue;
        for (const BufferNode* written : part.writes) grown = derived.insert(written).second || grown;
      }
    }
    bool dropped = false;
    for (Part& part : parts_) {
      if (!part.ahead || touches(part.writes, derived)) continue;
      part.ahead = std::any_of(parts_.begin(), parts_.end(), [&](const Part& other) {
        return other.ahead && &other != &part && touches(part.writes, other.reads);
      });
      for (const Part& other : parts_)
        if (!other.ahead && touches(part.writes, other.reads)) part.ahead = false;
      dropped = dropped || !part.ahead;
    }
    return dropped;
  }

  static bool touches(const BufferSet& some, const BufferSet& others) {
    return std::any_of(some.begin(), some.end(), [&](const BufferNode* one) { return others.contains(one); });
  }

  BufferSet constants_;
  BufferSet variables_;
  std::vector<Part> parts_;
};

/// Splits off the program that runs ahead of time; nothing if it would be empty.
std::optional<Program> split(Program& program, const BlockFacts& facts) {
  const auto is_constant = [](const Buffer& input) { return input->constant; };
  if (std::none_of(program.inputs.begin(), program.inputs.end(), is_constant)) return std::nullopt;
  const std::vector<bool> ahead = Splitter(program).run();
  if (ahead.empty()) return std::nullopt;

  std::vector<StmtPtr> statements;
  while (!program.root().children().empty()) statements.push_back(program.root().remove(0));
  Program prepare = program.clone();  // of the empty program, so that ids of new loops stay unique in both
  prepare.name += "_prepare";
  Part first;
  Part rest;
  for (size_t i = 0; i < statements.size(); ++i) {
    const Part part = part_of(*statements[i]);
    Part& whole = ahead[i] ? first : rest;
    whole.reads.insert(part.reads.begin(), part.reads.end());
    whole.writes.insert(part.writes.begin(), part.writes.end());
    (ahead[i] ? prepare : program).root().append(std::move(statements[i]));
  }
  std::erase_if(prepare.inputs, [&](const Buffer& input) { return !first.reads.contains(input.get()); });
  prepare.outputs.clear();
  prepare.intermediates.clear();
  std::vector<Buffer> kept;
  for (const Buffer& buffer : program.intermediates) {
    if (!first.writes.contains(buffer.get())) {
      kept.push_back(buffer);
    } else if (rest.reads.contains(buffer.get())) {
      prepare.outputs.push_back(buffer);
    } else {
      prepare.intermediates.push_back(buffer);
    }
  }
  program.intermediates = std::move(kept);
  if (prepare.outputs.empty()) return std::nullopt;  // no statement uses its results
  program.inputs.insert(program.inputs.end(), prepare.outputs.begin(), prepare.outputs.end());
  for (const Buffer& buffer : std::vector<Buffer>(prepare.outputs)) {
    std::vector<int64_t> strides = aligned_strides(buffer, buffer->shape, facts);
    if (strides.empty()) continue;
    const Buffer aligned =
        make_buffer(buffer->name, buffer->dtype, buffer->shape, buffer->scope, false, std::move(strides));
    program.swap_buffer(buffer, aligned);
    prepare.swap_buffer(buffer, aligned);
  }
  return prepare;
}

}  // namespace

void split_prepare(LoweringState& state) {
  if (!state.options.prepare) return;
  auto prepare = split(state.lowered.program, *state.facts);
  if (!prepare) return;
  state.lowered.prepare = std::make_unique<LoweredProgram>();
  state.lowered.prepare->program = std::move(*prepare);
}

}  // namespace tunesmith
