#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "api/program_parts.h"
#include "api/snapshot.h"
#include "tunesmith/analysis/accesses.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::api {

tunesmith_value value_of(int64_t number) {
  tunesmith_value value = {TUNESMITH_TAG_INTEGER, 0, {}};
  value.as.integer = number;
  return value;
}

tunesmith_value value_of(double number) {
  tunesmith_value value = {TUNESMITH_TAG_REAL, 0, {}};
  value.as.real = number;
  return value;
}

tunesmith_value value_of(std::string_view string) {
  tunesmith_value value = {TUNESMITH_TAG_TEXT, static_cast<uint32_t>(string.size()), {}};
  value.as.text = string.data();
  return value;
}

tunesmith_value value_of(const AnnotationValue& value) {
  if (const auto* string = std::get_if<std::string>(&value)) return value_of(std::string_view(*string));
  if (const auto* real = std::get_if<double>(&value)) return value_of(*real);
  return value_of(std::get<int64_t>(value));
}

const Program& program_of(const tunesmith_program* program, std::string_view call) {
  return *given(program, call).program;
}

const Block& block_of(const tunesmith_program* program, uint32_t id, std::string_view call) {
  const Block* found = program_of(program, call).find_block(BlockId{id});
  if (found == nullptr) misuse(call, "no such block", fmt::format("{}", id));
  return *found;
}

std::vector<Access> accesses_of(const Block& block, uint32_t sort) {
  switch (sort) {
    case TUNESMITH_ACCESS_SORT_READS:
      return reads_of(block);
    case TUNESMITH_ACCESS_SORT_WRITES:
      return writes_of(block);
    case TUNESMITH_ACCESS_SORT_READ_ACCESSES:
      return read_accesses(block);
    case TUNESMITH_ACCESS_SORT_WRITE_ACCESSES:
      return write_accesses(block);
    default:
      throw Unsupported(fmt::format("unknown access sort {}", sort));
  }
}

namespace {

const Loop& loop_of(const tunesmith_program* program, uint32_t id, std::string_view call) {
  const Loop* found = program_of(program, call).find_loop(LoopId{id});
  if (found == nullptr) misuse(call, "there is no such loop", fmt::format("{}", id));
  return *found;
}

/// Writes as many ids as the array can hold.
void write_ids(std::span<const uint32_t> all, uint32_t* ids, uint64_t capacity, uint64_t* count,
               std::string_view call) {
  given(count, call) = all.size();
  const size_t written = std::min<size_t>(all.size(), capacity);
  if (written > 0) std::copy_n(all.begin(), written, &given(ids, call));
}

template <typename Blocks>
std::vector<uint32_t> ids_of_blocks(const Blocks& blocks) {
  std::vector<uint32_t> ids;
  for (const Block* block : blocks) ids.push_back(static_cast<uint32_t>(block->id));
  return ids;
}

tunesmith_error* read(const tunesmith_program* program, const tunesmith_snapshot** snapshot) noexcept {
  return guarded([&] {
    const Program& what = program_of(program, "program.read");
    const tunesmith_snapshot*& out = given(snapshot, "program.read");
    if (program->snapshot == nullptr) program->snapshot = std::make_unique<Snapshot>(what).release();
    retain(*program->snapshot);
    out = program->snapshot;
  });
}

void release_snapshot(const tunesmith_snapshot* snapshot) noexcept {
  // The pointer came from a Snapshot.
  release(const_cast<Snapshot*>(static_cast<const Snapshot*>(snapshot)));  // NOLINT(*-const-cast)
}

uint32_t find_block(const tunesmith_program* program, tunesmith_text name) noexcept {
  const Block* found = program == nullptr ? nullptr : program->program->find_block(view(name));
  return found == nullptr ? TUNESMITH_NONE : static_cast<uint32_t>(found->id);
}

/// The index of the root's statement that contains it.
uint32_t nest_of(const Program& program, const Stmt& stmt) {
  const Stmt* at = &stmt;
  while (at->parent != &program.root()) at = at->parent;
  return static_cast<uint32_t>(program.root().index_of(*at));
}

tunesmith_error* blocks(const tunesmith_program* program, tunesmith_span* blocks) noexcept {
  return guarded([&] {
    const Program& what = program_of(program, "program.blocks");
    std::vector<tunesmith_block_facts>& facts = program->blocks.emplace_back();
    for (const Block* block : what.blocks()) {
      facts.push_back({static_cast<uint32_t>(block->id), 0, text(block->name),
                       block->init() != nullptr ? 1U : 0U, block->has_reduction() ? 1U : 0U,
                       nest_of(what, *block), static_cast<uint32_t>(loops_above(*block).size())});
    }
    given(blocks, "program.blocks") = span_of(facts);
  });
}

/// 0 if there are several.
uint32_t only_child(const Loop& loop) {
  const Seq* seq = loop.body()->as<Seq>();
  if (seq == nullptr) return number_of(loop.body()->kind);
  return seq->children().size() == 1 ? number_of(seq->children().front()->kind) : 0;
}

uint32_t bits_of(const LoopUse& use) {
  return (use.spatial ? uint32_t{TUNESMITH_ITERATOR_KIND_SPATIAL} : 0) |
         (use.reduction ? uint32_t{TUNESMITH_ITERATOR_KIND_REDUCTION} : 0) |
         (use.opaque ? uint32_t{TUNESMITH_ITERATOR_KIND_OPAQUE} : 0);
}

tunesmith_loop_facts facts_of(const Loop& loop, const LoopUse& use) {
  return {sizeof(tunesmith_loop_facts),   loop.const_extent(), number_of(loop.loop_kind), only_child(loop),
          static_cast<uint32_t>(loop.id), bits_of(use)};
}

tunesmith_error* loops(const tunesmith_program* program, uint32_t block, tunesmith_span* loops) noexcept {
  return guarded([&] {
    const Block& inside = block_of(program, block, "program.loops");
    std::vector<tunesmith_loop_facts>& facts = program->loops.emplace_back();
    for (const Loop* loop : loops_above(inside)) facts.push_back(facts_of(*loop, use_of(*loop, inside)));
    given(loops, "program.loops") = span_of(facts);
  });
}

tunesmith_error* loop(const tunesmith_program* program, uint32_t id, tunesmith_loop_facts* facts) noexcept {
  return guarded([&] {
    const Loop& found = loop_of(program, id, "program.loop");
    fill(&given(facts, "program.loop"), facts_of(found, use_of(found)));
  });
}

bool answer_to(uint32_t question, const Program& program, const Block& block) {
  switch (question) {
    case TUNESMITH_QUESTION_TRIVIALLY_BOUND:
      return is_trivially_bound(block);
    case TUNESMITH_QUESTION_NEEDS_TILING:
      return needs_tiling(block);
    case TUNESMITH_QUESTION_ELEMENTWISE:
      return is_elementwise(block);
    case TUNESMITH_QUESTION_WRITES_OUTPUT:
      return writes_output(program, block);
    case TUNESMITH_QUESTION_HAS_INIT:
      return block.init() != nullptr;
    case TUNESMITH_QUESTION_HAS_REDUCTION:
      return block.has_reduction();
    default:
      throw Unsupported(fmt::format("unknown block query {}", question));
  }
}

tunesmith_error* ask(const tunesmith_program* program, uint32_t block, uint32_t question,
                     uint32_t* answer) noexcept {
  return guarded([&] {
    const Block& found = block_of(program, block, "program.ask");
    given(answer, "program.ask") = answer_to(question, *program->program, found) ? 1 : 0;
  });
}

tunesmith_error* loop_use(const tunesmith_program* program, uint32_t loop, uint32_t block,
                          uint32_t* kinds) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "program.loop_use";
    const Loop& found = loop_of(program, loop, kCall);
    const LoopUse use =
        block == TUNESMITH_NONE ? use_of(found) : use_of(found, block_of(program, block, kCall));
    given(kinds, kCall) = bits_of(use);
  });
}

tunesmith_error* iterations(const tunesmith_program* program, uint32_t block, int64_t* spatial,
                            int64_t* reduction) noexcept {
  return guarded([&] {
    const IterationCount count = iteration_count(block_of(program, block, "program.iterations"));
    given(spatial, "program.iterations") = count.spatial;
    given(reduction, "program.iterations") = count.reduction;
  });
}

tunesmith_error* stride_of_store(const tunesmith_program* program, uint32_t block, uint32_t loop,
                                 int64_t* stride) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "program.store_stride";
    given(stride, kCall) = store_stride(block_of(program, block, kCall), loop_of(program, loop, kCall).var);
  });
}

tunesmith_error* neighbours(const tunesmith_program* program, uint32_t block, uint32_t side, uint32_t* ids,
                            uint64_t capacity, uint64_t* count) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "program.neighbours";
    const Block& found = block_of(program, block, kCall);
    if (side != TUNESMITH_SIDE_PRODUCERS && side != TUNESMITH_SIDE_CONSUMERS)
      throw Unsupported(fmt::format("unknown block side {}", side));
    write_ids(ids_of_blocks(side == TUNESMITH_SIDE_PRODUCERS ? producers_of(*program->program, found)
                                                             : consumers_of(*program->program, found)),
              ids, capacity, count, kCall);
  });
}

tunesmith_error* accesses(const tunesmith_program* program, uint32_t block, uint32_t sort, uint32_t* buffers,
                          uint64_t capacity, uint64_t* count) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "program.accesses";
    const Block& found = block_of(program, block, kCall);
    const std::vector<Buffer> known = program->program->buffers();
    std::vector<uint32_t> positions;
    for (const Access& access : accesses_of(found, sort))
      positions.push_back(static_cast<uint32_t>(std::ranges::find(known, access.buffer) - known.begin()));
    write_ids(positions, buffers, capacity, count, kCall);
  });
}

tunesmith_error* buffer(const tunesmith_program* program, uint32_t position,
                        const tunesmith_buffer** buffer) noexcept {
  return guarded([&] {
    const Program& what = program_of(program, "program.buffer");
    size_t at = position;
    uint32_t role = TUNESMITH_BUFFER_ROLE_INPUT;
    for (const auto* list : {&what.inputs, &what.outputs, &what.intermediates}) {
      if (at < list->size()) {
        given(buffer, "program.buffer") = &program->buffers.emplace_back(describe(*(*list)[at], role));
        return;
      }
      at -= list->size();
      ++role;
    }
    misuse("program.buffer", "there is no such buffer", fmt::format("{}", position));
  });
}

const Annotations& annotations_at(const tunesmith_program* program, uint32_t site, uint32_t id) {
  constexpr const char* kCall = "program.annotation";
  switch (site) {
    case TUNESMITH_SITE_PROGRAM:
      return program_of(program, kCall).annotations;
    case TUNESMITH_SITE_BLOCK:
      return block_of(program, id, kCall).annotations;
    case TUNESMITH_SITE_LOOP:
      return loop_of(program, id, kCall).annotations;
    default:
      throw Unsupported(fmt::format("unknown annotation site {}", site));
  }
}

tunesmith_error* annotation(const tunesmith_program* program, uint32_t site, uint32_t id, tunesmith_text key,
                            tunesmith_value* value) noexcept {
  return guarded([&] {
    const Annotations& there = annotations_at(program, site, id);
    const auto found = there.find(std::string(view(key)));
    given(value, "program.annotation") = found == there.end() ? tunesmith_value{} : value_of(found->second);
  });
}

tunesmith_error* axis_extent(const tunesmith_program* program, uint32_t block, tunesmith_text axis,
                             int64_t* extent) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "program.axis_extent";
    const Block& inside = block_of(program, block, kCall);
    int64_t& most = given(extent, kCall) = 0;
    const auto& nests = program->program->root().children();
    for (const Loop* loop : collect<Loop>(*nests[nest_of(*program->program, inside)])) {
      if (loop->loop_kind == LoopKind::Bound && loop->thread == view(axis))
        most = std::max(most, loop->const_extent());
    }
  });
}

}  // namespace

const tunesmith_program_table k_program_table = {sizeof(tunesmith_program_table),
                                                 read,
                                                 release_snapshot,
                                                 find_block,
                                                 blocks,
                                                 loops,
                                                 loop,
                                                 ask,
                                                 loop_use,
                                                 iterations,
                                                 stride_of_store,
                                                 neighbours,
                                                 accesses,
                                                 buffer,
                                                 annotation,
                                                 axis_extent};

}  // namespace tunesmith::api
