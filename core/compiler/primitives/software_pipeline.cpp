#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

constexpr int64_t kMaxStages = 16;

bool stores_into(const Stmt& stmt, const Buffer& buffer) {
  return find_first<Store>(stmt, [&](const Store& store) { return store.buffer == buffer; }) != nullptr;
}

/// Why the statement of the loop's body cannot run ahead of the others.
std::optional<Refusal> fetch_refusal(const Program& program, const Loop& loop, const Stmt& stmt) {
  std::optional<Refusal> refusal;
  const auto refuse = [&](std::string_view reason, const std::string& detail, const Stmt& place) {
    if (!refusal) refusal = Refusal{reason, detail, &place};
  };
  for_each_outer_block(stmt, [&](const Block& block) {
    const Store* store = body_store(block);
    if (store == nullptr || block.init() != nullptr ||
        std::ranges::any_of(block.iters, [](const IterVar& iter) { return iter.kind != IterKind::Spatial; }))
      return refuse("the loop does not begin with statements that only fill buffers", block.name, block);
    if (!is_intermediate(program, store->buffer) || store->buffer->scope == kScopeGlobal)
      return refuse("the first statements of the loop fill buffers in global memory", store->buffer->name,
                    block);
    walk_accesses(block, [&](const Stmt&, const AccessSite& access) {
      if (access.load != nullptr && stores_into(loop, access.buffer))
        refuse("the first statements of the loop read what the loop writes", access.buffer->name, block);
    });
  });
  return refusal;
}

std::optional<Refusal> pipeline_refusal(const Program& program, const Loop& loop) {
  if (loop.loop_kind != LoopKind::Serial)
    return Refusal{"the loop is not serial",
                   fmt::format("{} is {}", loop.var->name, loop_kind_name(loop.loop_kind)), &loop};
  if (loop.annotations.contains(kSoftwarePipeline))
    return Refusal{"the loop is already pipelined", loop.var->name, &loop};
  const Seq* body = loop.body()->as<Seq>();
  if (body == nullptr) return Refusal{"the loop has one statement only", loop.var->name, &loop};
  const std::vector<StmtPtr>& statements = body->children();
  std::vector<Buffer> fetched;
  size_t end = 0;
  for (; end < statements.size() && !fetch_refusal(program, loop, *statements[end]); ++end) {
    for (const Store* store : collect<Store>(*statements[end])) fetched.push_back(store->buffer);
  }
  if (end == 0) return fetch_refusal(program, loop, *statements.front());
  if (end == statements.size()) return Refusal{"the loop only fills memory", loop.var->name, &loop};
  for (const Buffer& buffer : fetched) {
    for (size_t i = end; i < statements.size(); ++i) {
      if (stores_into(*statements[i], buffer))
        return Refusal{"the rest of the loop writes a buffer that its first statements fill", buffer->name,
                       statements[i].get()};
    }
    bool outside = false;
    walk_accesses(program.root(), [&](const Stmt& stmt, const AccessSite& access) {
      outside = outside || (access.buffer == buffer && !is_ancestor(loop, stmt));
    });
    if (outside) return Refusal{"a buffer that the loop fills is used outside", buffer->name, &loop};
  }
  return std::nullopt;
}

}  // namespace

void software_pipeline(Program& program, LoopId id, int64_t stages) {
  Loop& loop = loop_at(program, id, "software_pipeline");
  if (stages < 1 || stages > kMaxStages) {
    throw ScheduleError("software_pipeline", "the number of stages is not between 1 and 16",
                        fmt::format("{}", stages), program, &loop);
  }
  throw_refusal("software_pipeline", program, pipeline_refusal(program, loop));
  if (stages > 1) loop.annotations[kSoftwarePipeline] = stages;
}

KindPtr software_pipeline_kind() {
  return make_loop_transformation("software_pipeline", software_pipeline, {"loop", "stages"});
}

void Schedule::software_pipeline(LoopRV loop, const IntArg& stages) {
  execute(kind("software_pipeline"), {loop, as_arg(stages)});
}

}  // namespace tunesmith
