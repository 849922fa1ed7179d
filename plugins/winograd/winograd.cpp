// Convolutions with three taps by minimal filtering, as an additional
// sketch beside the direct form; its products are tiled like any other's.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/vector_lanes.h>
#include <tunesmith/tiling/where_legal.h>

namespace {

using namespace tunesmith;

constexpr int64_t kOutputs = 2;  // per tile along a window

/// The names of the blocks that replace a convolution.
struct Filtering {
  std::string data;
  std::string weights;
  std::string products;
  std::string outputs;
};

class Winograd final : public TransformationModule {
 public:
  explicit Winograd(const Options& options) : min_channels_(options.get_int("min_channels")) {}

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const Block block = *schedule.program().find_block(block_name);
    if (!needs_tiling(block))
      return ModuleResult::not_applicable("the block is no reduction that reuses what it reads");
    Schedule made = schedule.clone();
    Filtering filtering;
    try {
      filtering = filter(made, block_name);
    } catch (const ScheduleMisuse&) {
      throw;
    } catch (const ScheduleError& refused) {
      return ModuleResult::not_applicable(refused.reason());
    }
    const std::vector<size_t> windows = windows_of(made, filtering);
    if (channels_of(made, filtering) < min_channels_)
      return ModuleResult::not_applicable("there are too few channels to make up for the transforms");
    const int64_t lanes = vector_lanes(writes_of(block).front().buffer->dtype,
                                       static_cast<int64_t>(context.device().get("vector_bits")));
    for (const std::string& name : {filtering.data, filtering.weights, filtering.outputs}) {
      if (last_extent(made, name) % lanes != 0)
        return ModuleResult::not_applicable("the channels are not whole vectors");
    }
    std::vector<Schedule> sketches;
    sketches.push_back(std::move(schedule));
    transform_points(made, filtering.data, windows.size(), lanes);
    transform_points(made, filtering.weights, windows.size(), lanes);
    make_outputs(made, filtering.outputs, windows, lanes);
    sketches.push_back(std::move(made));
    for (const std::string& name : {filtering.data, filtering.weights})
      context.claim(name, "it transforms to the points of minimal filtering");
    return ModuleResult::applied(std::move(sketches));
  }

 private:
  static Filtering filter(Schedule& schedule, const std::string& name) {
    const BlockRV block = schedule.get_block(name);
    const BlockRV products = schedule.winograd(block);
    // Merges elementwise consumers with the outputs, which are then written to memory once.
    for (;;) {
      const std::vector<BlockRV> consumers = schedule.get_consumers(block);
      if (consumers.size() != 1 ||
          !where_legal(schedule, [&](Schedule& each) { each.reverse_compute_inline(consumers[0]); }))
        break;
    }
    const std::vector<BlockRV> transforms = schedule.get_producers(products);
    return {schedule.block(transforms.at(0)).name, schedule.block(transforms.at(1)).name,
            schedule.block(products).name, name};
  }

  /// Positions of the iterators of the outputs that tiles run along, as `winograd` chose.
  static std::vector<size_t> windows_of(const Schedule& schedule, const Filtering& filtering) {
    const Program program = schedule.program();
    const Block outputs = *program.find_block(filtering.outputs);
    const Block products = *program.find_block(filtering.products);
    const std::string sums = writes_of(products).front().buffer->name;
    std::vector<size_t> windows;
    for (size_t i = 0; i < outputs.iters().size(); ++i) {
      const auto numbers_tiles = [&](const AccessIndex& index) { return !index.iterator && index.uses(i); };
      if (std::ranges::any_of(read_accesses(outputs), [&](const Access& read) {
            return read.buffer->name == sums && std::ranges::any_of(read.indices, numbers_tiles);
          }))
        windows.push_back(i);
    }
    return windows;
  }

  static int64_t channels_of(const Schedule& schedule, const Filtering& filtering) {
    const Program program = schedule.program();
    int64_t channels = 1;
    for (const IterVar& iter : program.find_block(filtering.products)->iters()) {
      if (iter.kind == IterKind::Reduction) channels *= iter.extent;
    }
    return channels;
  }

  static int64_t last_extent(const Schedule& schedule, const std::string& name) {
    return schedule.program().find_block(name)->iters().back().extent;
  }

  /// All points of a vector of channels follow from the same elements, so they are computed together.
  static void transform_points(Schedule& schedule, const std::string& name, size_t windows, int64_t lanes) {
    const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block(name));
    const auto points = static_cast<std::ptrdiff_t>(windows);
    const std::vector<LoopRV> channels = schedule.split(loops.back(), {std::nullopt, lanes});
    std::vector<LoopRV> order(loops.begin() + points, loops.end() - 1);
    order.push_back(channels[0]);
    order.insert(order.end(), loops.begin(), loops.begin() + points);
    order.push_back(channels[1]);
    schedule.reorder(order);
    for (size_t i = 0; i < windows; ++i) schedule.unroll(loops[i]);
    schedule.vectorize(channels[1]);
  }

  /// All outputs of a tile follow from the same sums.
  static void make_outputs(Schedule& schedule, const std::string& name, const std::vector<size_t>& windows,
                           int64_t lanes) {
    const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block(name));
    std::vector<LoopRV> outside, inside;
    for (size_t i = 0; i + 1 < loops.size(); ++i) {
      if (std::ranges::find(windows, i) == windows.end()) {
        outside.push_back(loops[i]);
        continue;
      }
      const std::vector<LoopRV> halves = schedule.split(loops[i], {std::nullopt, kOutputs});
      outside.push_back(halves[0]);
      inside.push_back(halves[1]);
    }
    const std::vector<LoopRV> channels = schedule.split(loops.back(), {std::nullopt, lanes});
    std::vector<LoopRV> order = outside;
    order.push_back(channels[0]);
    order.insert(order.end(), inside.begin(), inside.end());
    order.push_back(channels[1]);
    schedule.reorder(order);
    for (const LoopRV loop : inside) schedule.unroll(loop);
    schedule.vectorize(channels[1]);
  }

  int64_t min_channels_;
};

}  // namespace

TUNESMITH_PLUGIN(Winograd, PluginKind::Module, "winograd", "0.1.0",
                 "Winograd's minimal filtering for convolutions with filters of three taps",
                 OptionSpec::integer("min_channels", 32, 1, 1 << 20,
                                     "fewest terms of a sum of products for which it is tried"));
