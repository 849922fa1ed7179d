#include <fmt/format.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

constexpr int64_t kAlignment = 64;
/// Larger buffers outside parallel loops are workspace; smaller ones stay on the stack, near the other
/// locals, while it has room.
constexpr int64_t kSmall = int64_t{16} * 1024;

struct Planner {
  LoweredProgram& lowered;
  const LowerOptions& options;
  int64_t stores = 0;
  int64_t stack = 0;             // of parallel loops, whose threads have no other memory
  std::vector<Buffer> serial{};  // outside of parallel loops

  void run(const Stmt& stmt, int64_t copies, bool parallel) {
    if (const Loop* loop = stmt.as<Loop>()) {
      const bool unrolled = loop->loop_kind == LoopKind::Unrolled;
      run(*loop->body(), unrolled ? copies * loop->const_extent() : copies,
          parallel || loop->loop_kind == LoopKind::Parallel);
      return;
    }
    if (stmt.kind == StmtKind::Store) {
      stores += copies;
      if (stores > options.max_expanded_stores) {
        throw LowerError("plan_memory", "the unrolled program is too long",
                         fmt::format("more than {} stores", options.max_expanded_stores));
      }
      return;
    }
    if (const Allocate* allocate = stmt.as<Allocate>()) place(*allocate, parallel);
    visit_children(stmt, [&](const Stmt& child) { run(child, copies, parallel); });
  }

  void place(const Allocate& allocate, bool parallel) {
    const Buffer& buffer = allocate.buffer;
    if (buffer->scope == kScopeRegister) return;
    if (!parallel) {
      serial.push_back(buffer);
      return;
    }
    stack += aligned_bytes(buffer);
    if (stack > options.max_stack_bytes) {
      throw LowerError("plan_memory", "the buffers on the stack are too big",
                       fmt::format("{} brings them to {} bytes, of at most {}", buffer->name, stack,
                                   options.max_stack_bytes));
    }
  }

  void place_serial() {
    for (const Buffer& buffer : serial) {
      const int64_t bytes = aligned_bytes(buffer);
      if (buffer->bytes() <= kSmall && stack + bytes <= options.max_stack_bytes) {
        stack += bytes;
        continue;
      }
      lowered.workspace.push_back({buffer, lowered.workspace_bytes});
      lowered.workspace_bytes += bytes;
    }
  }
};

}  // namespace

int64_t aligned_bytes(const Buffer& buffer) {
  return (buffer->bytes() + kAlignment - 1) / kAlignment * kAlignment;
}

void lay_out_prepared(LoweredProgram& lowered) {
  if (!lowered.prepare) return;
  Program& prepare = lowered.prepare->program;
  for (const Buffer& buffer : std::vector<Buffer>(prepare.outputs)) {
    Buffer placed = buffer;
    if (!buffer->strides.empty()) {
      // Includes gaps: accesses have one index by now, and an argument has no strides.
      placed = make_buffer(buffer->name, buffer->dtype, {buffer->span()}, buffer->scope);
      prepare.swap_buffer(buffer, placed);
      lowered.program.swap_buffer(buffer, placed);
    }
    lowered.prepared.push_back({placed, lowered.prepared_bytes});
    lowered.prepared_bytes += aligned_bytes(placed);
  }
}

void plan_memory(LoweredProgram& lowered, const LowerOptions& options) {
  Planner planner{lowered, options};
  planner.run(lowered.program.root(), 1, false);
  planner.place_serial();
}

}  // namespace tunesmith
