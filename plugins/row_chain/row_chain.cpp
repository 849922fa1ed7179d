// Chains of reductions over rows: softmax, layer and RMS norm, and attention, with products
// around a softmax. A row, or a block of rows, stays in cache from the first to the last.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/vector_lanes.h>

#include "chain.h"
#include "row_block.h"
#include "thread_rows.h"

namespace {

using namespace tunesmith;

class RowChain final : public TransformationModule {
 public:
  explicit RowChain(const Options& options)
      : accumulators_(options.get_ints("accumulators")),
        steps_(options.get_ints("steps")),
        column_vectors_(options.get_ints("column_vectors")),
        prefetch_(options.get_ints("prefetch")),
        nontemporal_(options.get_bool("nontemporal")),
        threads_(options.get_ints("threads")),
        thread_elements_(options.get_int("thread_elements")) {
    for (const char* name : {"accumulators", "steps", "column_vectors", "threads"}) {
      if (options.get_ints(name).empty()) options.fail(name, "expected at least one number");
    }
  }

  ModuleDescription description() const override {
    ModuleDescription description;
    if (nontemporal_) description.makes.emplace_back("nontemporal");
    if (!prefetch_.empty()) description.makes.emplace_back("prefetch");
    return description;
  }

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const Block block = *schedule.program().find_block(block_name);
    const auto cores = static_cast<int64_t>(context.device().get("cores"));
    const auto second_cache = static_cast<int64_t>(context.device().get_or("l2_bytes", 262144));
    ProductLimits limits{second_cache};
    for (const int64_t vectors : column_vectors_) limits.tile_rows.push_back(max_rows(vectors, context));
    const std::optional<ThreadPlaces> places = thread_places(context.execution());
    if (places) limits.tile_rows.clear();  // no tiles of products
    Chain chain;
    if (const std::string reason = find_chain(schedule.program(), block, limits, &chain); !reason.empty())
      return ModuleResult::not_applicable(reason);
    if (chain.members.back() != block_name)
      return ModuleResult::not_applicable("the chain is scheduled from its last block");
    if (places) return in_threads(schedule, chain, *places, context);
    if (chain.members.size() < 2) return ModuleResult::not_applicable("the reduction stands alone");
    if (chain.row_count < cores)
      return ModuleResult::not_applicable("there are too few rows to run in parallel");
    // The last round of the cores is at most an eighth idle.
    if (8 * ((chain.row_count + cores - 1) / cores * cores - chain.row_count) > chain.row_count)
      return ModuleResult::not_applicable("the cores would share so few rows unevenly");
    if (chain.row_bytes > second_cache)
      return ModuleResult::not_applicable("a row does not fit the second-level cache");

    read_in_place(schedule, block_name, limits, &chain);
    RowBlockChoices choices;
    choices.row = {static_cast<int64_t>(context.device().get("vector_bits")), accumulators_};
    choices.steps = steps_;
    choices.prefetch = prefetch_;
    choices.cores = cores;
    choices.first_cache_bytes = static_cast<int64_t>(context.device().get_or("l1_bytes", 32768));
    choices.block_bytes = std::min(second_cache / 2, kMaxBlockBytes);
    choices.private_cache_bytes = nontemporal_ ? second_cache : std::numeric_limits<int64_t>::max();
    std::vector<Schedule> sketches;
    if (chain.has_products()) {
      for (const TileShape& shape : tile_shapes(schedule.program(), chain, context)) {
        sketches.push_back(schedule.clone());
        claim(sketches.back(), compute_at_row_blocks(sketches.back(), chain, choices, shape), context);
      }
    } else {
      sketches = sketches_of_rows(schedule, chain, choices, context);
    }
    return ModuleResult::applied(std::move(sketches));
  }

 private:
  ModuleResult in_threads(const Schedule& schedule, const Chain& chain, const ThreadPlaces& places,
                          ModuleContext& context) const {
    std::vector<Schedule> sketches;
    for (const ThreadRowChoices& choices :
         thread_row_choices(schedule.program(), chain, places, threads_, thread_elements_)) {
      Schedule sketch = schedule.clone();
      claim(sketch, compute_in_threads(sketch, chain, places, choices), context);
      sketches.push_back(std::move(sketch));
    }
    const auto cores = static_cast<int64_t>(context.device().get("cores"));
    for (const int64_t length : piece_lengths(schedule.program(), chain, cores)) {
      Schedule sketch = schedule.clone();
      const std::vector<BlockRV> made =
          compute_in_pieces(sketch, chain, places, threads_, thread_elements_, length);
      if (made.empty()) continue;
      claim(sketch, made, context);
      sketches.push_back(std::move(sketch));
    }
    if (sketches.empty())
      return ModuleResult::not_applicable(
          "the rows leave too many threads of a block idle, or do not fit their registers");
    return ModuleResult::applied(std::move(sketches));
  }

  /// If many short rows fit the first-level cache together, they are only computed in blocks: single
  /// rows would wait for the tails of their reductions. A few rows have too few blocks to choose from.
  std::vector<Schedule> sketches_of_rows(const Schedule& schedule, const Chain& chain,
                                         const RowBlockChoices& choices, ModuleContext& context) const {
    std::vector<Schedule> sketches;
    Schedule blocks = schedule.clone();
    const std::vector<BlockRV> made = compute_at_row_blocks(blocks, chain, choices, TileShape());
    claim(blocks, made, context);
    if (!made.empty()) sketches.push_back(std::move(blocks));
    const bool many = chain.row_count > kFewRows * choices.cores;
    const bool fit = kShortRows * chain.working_bytes() <= choices.first_cache_bytes / 2;
    if (!made.empty() && many && fit) return sketches;
    for (const bool prefetches : {false, true}) {
      if (prefetches && prefetch_.empty()) continue;
      sketches.push_back(schedule.clone());
      claim(sketches.back(), compute_at_rows(sketches.back(), chain, choices, prefetches), context);
    }
    return sketches;
  }

  static void claim(const Schedule& schedule, const std::vector<BlockRV>& blocks, ModuleContext& context) {
    for (const BlockRV& block : blocks)
      context.claim(schedule.block(block).name, "it is part of a chain of reductions over one row");
  }

  /// Reads products' operands that are reordered copies from
  /// their sources: the copy into panels is then the only one.
  static void read_in_place(Schedule& schedule, const std::string& end, const ProductLimits& limits,
                            Chain* chain) {
    Schedule tried = schedule.clone();
    const Program program = schedule.program();
    for (const std::string& product : {chain->first_product, chain->last_product}) {
      if (product.empty()) continue;
      for (const Pointer<Block>& producer : producers_of(program, *program.find_block(product))) {
        const Pointer<Store> store = find_first<Store>(*producer);
        if (!chain->rows.contains(producer->name) && is_elementwise(*producer) &&
            !writes_output(program, *producer) && store->value().is(ExprKind::Load) &&
            consumers_of(program, *producer).size() == 1)
          tried.compute_inline(tried.get_block(producer->name));
      }
    }
    Chain inlined;
    const Program without = tried.program();
    if (!find_chain(without, *without.find_block(end), limits, &inlined).empty() ||
        inlined.members != chain->members)
      return;
    *chain = std::move(inlined);
    schedule = std::move(tried);
  }

  /// For a tile whose sums, one row of columns and one element fit the registers.
  static int64_t max_rows(int64_t vectors, ModuleContext& context) {
    const DeviceModel& device = context.device();
    const auto registers = static_cast<int64_t>(
        device.get_or("vector_registers_used_by_tile", device.get("vector_registers") - 1));
    return (registers - 1 - vectors) / vectors;
  }

  /// For each width the tallest tiles.
  std::vector<TileShape> tile_shapes(const Program& program, const Chain& chain,
                                     ModuleContext& context) const {
    const std::string& product = chain.last_product.empty() ? chain.first_product : chain.last_product;
    const Block block = *program.find_block(product);
    const std::vector<IterVar> iters = block.iters();
    const int64_t extent = iters[chain.rows.at(product).back()].extent;
    const int64_t lanes = vector_lanes(writes_of(block).front().buffer->dtype,
                                       static_cast<int64_t>(context.device().get("vector_bits")));
    std::vector<TileShape> shapes;
    for (const int64_t vectors : column_vectors_) {
      std::vector<int64_t> heights = tile_heights(extent, max_rows(vectors, context));
      if (heights.size() > kHeights) heights.resize(kHeights);
      for (const int64_t rows : heights) shapes.push_back({rows, vectors, lanes});
    }
    return shapes;
  }

  static constexpr int64_t kMaxBlockBytes = 262144;  // lowering refuses more than twice as much on a stack
  static constexpr int64_t kShortRows = 8;           // that fit half of the first-level cache
  static constexpr int64_t kFewRows = 32;            // for each core
  static constexpr size_t kHeights = 2;              // number of tile heights per width

  std::vector<int64_t> accumulators_;
  std::vector<int64_t> steps_;
  std::vector<int64_t> column_vectors_;
  std::vector<int64_t> prefetch_;
  bool nontemporal_;
  std::vector<int64_t> threads_;
  int64_t thread_elements_;
};

}  // namespace

TUNESMITH_PLUGIN(
    RowChain, PluginKind::Module, "row_chain", "0.1.0",
    "fuse chains of reductions over rows that stay in cache: softmax, norms, attention",
    OptionSpec::integers("accumulators", {1, 2, 4, 8}, 1, 64,
                         "choices for the vectors that a row is taken by at a time"),
    OptionSpec::integers("steps", {2, 4, 8}, 2, 64,
                         "choices for the steps of a product's reduction that are written out"),
    OptionSpec::integers("column_vectors", {2, 4}, 1, 16,
                         "widths, in vectors, of a product's tiles; sketches for each"),
    OptionSpec::integers("prefetch", {8, 16, 32, 64}, 1, 4096,
                         "choices for the iterations that a row is fetched ahead by; none: never"),
    OptionSpec::boolean("nontemporal", true, "may large outputs be stored past the caches?"),
    OptionSpec::integers("threads", {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}, 2, 1024,
                         "of a device: choices for the threads that have a row"),
    OptionSpec::integer("thread_elements", 32, 1, 255,
                        "of a device: elements of a row that one thread has at most"));
