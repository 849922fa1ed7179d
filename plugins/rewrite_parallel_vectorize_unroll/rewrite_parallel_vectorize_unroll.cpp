// Implements the decisions of parallel_vectorize_unroll.
//
// Parallel: the outermost spatial loops of every nest, fused up to `parallel_jobs` iterations. Vectorized:
// the innermost loop of a block if its stores are contiguous. Unrolled: always the spatial loops inside the
// innermost reduction loop, so that its accumulators can stay in registers; and further loops outwards while
// the body has at most `unroll_steps` statements. Copies and initialisations inside a nest are unrolled like
// their tile. A transformation that is illegal for one nest or block (such as lanes that would share a
// buffer) is skipped only there.
#include <algorithm>
#include <cstdint>
#include <optional>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/vector_lanes.h>
#include <tunesmith/tiling/where_legal.h>

namespace {

using namespace tunesmith;

/// The share of a thread's registers that an unrolled copy may fill.
constexpr int64_t kShareOfCopies = 16;

/// Iterations for each core that a piece of a loop must have to run in parallel.
constexpr int64_t kMinShare = 2;

/// Applies several instructions, all or none. Returns whether they were applied.
template <typename Change>
bool all_where_legal(Schedule& schedule, const Change& change) {
  Schedule tried = schedule.clone();
  if (!where_legal(tried, change)) return false;
  schedule = std::move(tried);
  return true;
}

/// The first of `loops` (outermost first) that contains nothing but the block.
size_t first_exclusive(const std::vector<LoopFacts>& loops) {
  size_t first = loops.size();
  while (first > 0 && loops[first - 1].only_child.has_value()) --first;
  return first;
}

class RewriteParallelVectorizeUnroll final : public TransformationModule {
 public:
  ModuleStage stage() const override { return ModuleStage::Finishing; }

  ModuleDescription description() const override {
    return {.consumes = {"parallel_jobs", "vectorize", "unroll_steps"}};
  }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    const int64_t jobs = schedule.annotation("parallel_jobs").value_or(0);
    const int64_t vectorize = schedule.annotation("vectorize").value_or(0);
    const int64_t steps = schedule.annotation("unroll_steps").value_or(-1);
    if (jobs == 0 && vectorize == 0 && steps < 0) {
      return ModuleResult::not_applicable("the program has no such annotation");
    }
    if (jobs > 0) parallelize(schedule, jobs, static_cast<int64_t>(context.device().get("cores")));
    const auto vector_bits = static_cast<int64_t>(context.device().get("vector_bits"));
    const auto registers = static_cast<int64_t>(context.device().get("vector_registers"));
    // On threads, each copy in flight needs registers of the tile.
    const ExecutionModel& machine = context.execution();
    const bool has_threads = machine.first_synchronising() < machine.levels.size();
    const int64_t copied = has_threads ? registers / kShareOfCopies : registers;
    std::vector<std::string> names;
    for (const BlockFacts& block : schedule.blocks()) names.push_back(block.name);
    // All vectors before any unrolling: a loop vectorized for one block may hold others, and their
    // statements.
    for (const std::string& name : names) {
      if (vectorize > 1) vectorize_innermost(schedule, schedule.get_block(name), vectorize, vector_bits);
    }
    for (const std::string& name : names) {
      if (steps >= 0) unroll(schedule, schedule.get_block(name), steps, vector_bits, registers, copied);
    }
    // The annotations have no further meaning, and would distinguish equal programs.
    for (const char* key : {"parallel_jobs", "vectorize", "unroll_steps"}) {
      if (schedule.annotation(key)) schedule.unannotate(key);
    }
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  static void parallelize(Schedule& schedule, int64_t jobs, int64_t cores) {
    std::vector<BlockFacts> first_blocks;
    std::optional<size_t> nest;
    for (const BlockFacts& block : schedule.blocks()) {
      if (nest != block.nest && block.loops > 0) first_blocks.push_back(block);
      nest = block.nest;
    }
    for (const BlockFacts& first : first_blocks) {
      if (parallelize_from(schedule, first.name, 0, jobs) > 1) continue;
      for (const BlockFacts& block : schedule.blocks()) {
        if (block.nest == first.nest && block.has_reduction)
          parallelize_piece(schedule, block.name, jobs, cores);
      }
    }
  }

  /// Pieces of a loop in a nest without other work distribute their own work.
  static void parallelize_piece(Schedule& schedule, const std::string& block, int64_t jobs, int64_t cores) {
    const std::vector<LoopFacts> loops = schedule.loops_of(schedule.get_block(block));
    const auto first = std::ranges::find_if(loops, [](const LoopFacts& loop) { return loop.extent > 1; });
    if (first == loops.end() || first->extent < kMinShare * cores) return;
    parallelize_from(schedule, block, static_cast<size_t>(first - loops.begin()), jobs);
  }

  /// The number of parallel iterations if the loops from `begin` (outermost) are fused.
  static int64_t parallelize_from(Schedule& schedule, const std::string& block, size_t begin, int64_t jobs) {
    std::vector<LoopRV> fused;
    int64_t iterations = 1;
    const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block(block));
    for (size_t i = begin; i < loops.size(); ++i) {
      const LoopFacts loop = schedule.facts(loops[i]);
      if (loop.use.reduction || loop.use.opaque || loop.kind != LoopKind::Serial) break;
      if (!fused.empty() && (iterations > 1 && iterations * loop.extent > jobs)) break;
      iterations *= loop.extent;
      fused.push_back(loops[i]);
      if (loop.only_child != StmtKind::Loop) break;
    }
    const auto run_parallel = [&] {
      const auto one = [&](Schedule& tried) { tried.parallel(fused.front()); };
      const auto several = [&](Schedule& tried) { tried.parallel(tried.fuse(fused)); };
      return fused.size() == 1 ? where_legal(schedule, one) : all_where_legal(schedule, several);
    };
    // Inner loops may contain data that their iterations share: then fuses the outer ones without them.
    while (iterations > 1 && !run_parallel()) {
      iterations /= schedule.facts(fused.back()).extent;
      fused.pop_back();
    }
    return iterations;
  }

  static void vectorize_innermost(Schedule& schedule, BlockRV block, int64_t limit, int64_t vector_bits) {
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    if (loops.empty()) return;
    const LoopRV innermost = loops.back();
    const LoopFacts loop = schedule.loops_of(block).back();
    if (loop.kind != LoopKind::Serial || loop.use.reduction || loop.use.opaque || !loop.use.spatial) return;
    const int64_t extent = loop.extent;
    if (extent == 1 || schedule.store_stride(block, innermost) != 1) return;
    const int64_t width =
        extent > limit ? widest_divisor(extent, limit, vector_lanes(schedule, block, vector_bits)) : extent;
    if (width == extent) {
      where_legal(schedule, [&](Schedule& tried) { tried.vectorize(innermost); });
    } else {
      all_where_legal(schedule, [&](Schedule& tried) {
        tried.vectorize(tried.split(innermost, {std::nullopt, width}).back());
      });
    }
  }

  /// The largest divisor of `extent` that is a multiple of `lanes` and at
  /// most `limit`; `limit` itself, with a masked remainder, if there is none.
  static int64_t widest_divisor(int64_t extent, int64_t limit, int64_t lanes) {
    for (int64_t width = limit / lanes * lanes; width >= lanes && width > 0; width -= lanes) {
      if (extent % width == 0) return width;
    }
    return limit;
  }

  /// `registers` limits the statements of a register tile, `copied` those of a copy inside a nest.
  static void unroll(Schedule& schedule, BlockRV block, int64_t steps, int64_t vector_bits, int64_t registers,
                     int64_t copied) {
    std::vector<LoopRV> loops = schedule.get_loops(block);
    if (loops.empty()) return;
    const std::vector<LoopFacts> facts = schedule.loops_of(block);
    const size_t exclusive = first_exclusive(facts);
    // A vectorized loop becomes one statement per register; it may contain other blocks, too.
    int64_t statements = 1;
    for (const LoopFacts& loop : facts) {
      if (loop.kind != LoopKind::Vectorized) continue;
      const int64_t lanes = vector_lanes(schedule, block, vector_bits);
      statements *= (loop.extent + lanes - 1) / lanes;
    }
    if (facts.back().kind == LoopKind::Vectorized) loops.pop_back();
    size_t tile = loops.size();  // loops from here on are the register tile
    bool in_reduction = false;
    for (size_t i = loops.size(); i-- > exclusive;) {
      if (facts[i].use.reduction && facts[i].extent > 1) {
        tile = i + 1;
        in_reduction = true;
        break;
      }
    }
    if (!in_reduction) tile = exclusive;
    // Copies inside a nest belong to a register tile: up to its size they are completely unrolled.
    const int64_t tile_limit = in_reduction ? registers : exclusive > 0 ? copied : 0;
    for (size_t i = loops.size(); i-- > exclusive;) {
      const int64_t limit = std::max(steps, i >= tile ? tile_limit : 0);
      if (facts[i].kind != LoopKind::Serial) break;
      if (statements * facts[i].extent > limit) break;
      statements *= facts[i].extent;
      schedule.unroll(loops[i]);
    }
  }
};

}  // namespace

TUNESMITH_PLUGIN(RewriteParallelVectorizeUnroll, PluginKind::Module, "rewrite_parallel_vectorize_unroll",
                 "0.1.0", "finishing: carry out the annotations of parallel_vectorize_unroll");
