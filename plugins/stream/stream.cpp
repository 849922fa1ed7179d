// Memory-bound blocks: reductions that read each element once, and elementwise
// operators. Every core reads whole lines in order, with several vectors in flight.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/vector_lanes.h>

#include "elementwise.h"
#include "in_threads.h"
#include "reductions.h"

namespace {

using namespace tunesmith;

class Stream final : public TransformationModule {
 public:
  explicit Stream(const Options& options)
      : accumulators_(options.get_ints("accumulators")),
        jobs_(options.get_ints("jobs_per_core")),
        prefetch_rows_(options.get_ints("prefetch")),
        prefetch_steps_(options.get_ints("prefetch_steps")),
        nontemporal_(options.get_bool("nontemporal")),
        threads_(options.get_ints("threads")),
        vectors_(options.get_ints("vectors")) {
    for (const char* name : {"accumulators", "jobs_per_core", "threads", "vectors"}) {
      if (options.get_ints(name).empty()) options.fail(name, "expected at least one number");
    }
  }

  ModuleDescription description() const override {
    ModuleDescription description;
    if (nontemporal_) description.makes.emplace_back("nontemporal");
    if (!prefetch_rows_.empty() || !prefetch_steps_.empty()) description.makes.emplace_back("prefetch");
    return description;
  }

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    const Block block = *schedule.program().find_block(block_name);
    if (!is_trivially_bound(block) || enclosing_block(block) != nullptr)
      return ModuleResult::not_applicable("another module has transformed the block");
    const auto l1_bytes = static_cast<int64_t>(context.device().get_or("l1_bytes", 32768));
    const std::optional<ReductionForm> form = match_reduction(block, l1_bytes / 2);
    const bool elementwise = !form && is_streamed_elementwise(block);
    if (!form && !elementwise)
      return ModuleResult::not_applicable("the block does not read memory once and in its order");
    if (elementwise &&
        (!writes_output(schedule.program(), block) || !producers_of(schedule.program(), block).empty()))
      return ModuleResult::not_applicable("the element-wise block belongs to others that it reads or serves");
    if (const std::optional<ThreadPlaces> places = thread_places(context.execution()))
      return in_threads(schedule, block_name, elementwise, *places, context);
    if (accessed_bytes(block) < l1_bytes)
      return ModuleResult::not_applicable("what the block reads and writes fits the first-level cache");

    const StreamChoices choices{static_cast<int64_t>(context.device().get("vector_bits")),
                                static_cast<int64_t>(context.device().get("cores")),
                                accumulators_,
                                jobs_,
                                prefetch_rows_,
                                prefetch_steps_,
                                nontemporal_
                                    ? static_cast<int64_t>(context.device().get_or("l2_bytes", 262144))
                                    : std::numeric_limits<int64_t>::max()};
    if (form && form->direction == Direction::Along &&
        iteration_count(block).reduction <=
            vector_lanes(writes_of(block).front().buffer->dtype, choices.vector_bits))
      return ModuleResult::not_applicable("a row is no longer than a vector");
    std::vector<StreamSketch> made;
    if (form) made = stream_reduction(schedule, block_name, *form, choices);
    if (elementwise) made.push_back(stream_elementwise(schedule, block_name, choices));
    std::vector<Schedule> sketches;
    for (StreamSketch& sketch : made) {
      for (const BlockRV& rv : sketch.blocks)
        context.claim(sketch.schedule.block(rv).name, "it is bound by memory");
      sketches.push_back(std::move(sketch.schedule));
    }
    return ModuleResult::applied(std::move(sketches));
  }

 private:
  ModuleResult in_threads(const Schedule& schedule, const std::string& block, bool elementwise,
                          const ThreadPlaces& places, ModuleContext& context) const {
    if (!elementwise) return ModuleResult::not_applicable("reductions of a device are other modules'");
    StreamSketch sketch = stream_elementwise_in_threads(schedule, block, places, {threads_, vectors_});
    for (const BlockRV& rv : sketch.blocks)
      context.claim(sketch.schedule.block(rv).name, "it is bound by memory");
    return ModuleResult::applied(std::move(sketch.schedule));
  }

  static int64_t accessed_bytes(const Block& block) {
    int64_t bytes = 0;
    std::vector<Access> accesses = reads_of(block);
    const std::vector<Access> writes = writes_of(block);
    accesses.insert(accesses.end(), writes.begin(), writes.end());
    for (const Access& access : accesses) bytes += bytes_of(access.buffer);
    return bytes;
  }

  std::vector<int64_t> accumulators_;
  std::vector<int64_t> jobs_;
  std::vector<int64_t> prefetch_rows_;
  std::vector<int64_t> prefetch_steps_;
  bool nontemporal_;
  std::vector<int64_t> threads_;
  std::vector<int64_t> vectors_;
};

}  // namespace

TUNESMITH_PLUGIN(
    Stream, PluginKind::Module, "stream", "0.1.0",
    "all cores through memory in its order: norms, sums of rows and columns, element-wise operators",
    OptionSpec::integers("accumulators", {1, 2, 4, 8, 16}, 1, 64,
                         "choices for the vectors that are taken at a time"),
    OptionSpec::integers("jobs_per_core", {1, 2, 4}, 1, 64,
                         "choices for the pieces that a long reduction is cut into, for each core"),
    OptionSpec::integers("prefetch", {4, 8, 16, 32}, 1, 4096,
                         "choices for the rows that columns are fetched ahead by; none: never"),
    OptionSpec::integers(
        "prefetch_steps", {32, 64, 128}, 1, 4096,
        "choices for the steps that a long reduction along memory is fetched ahead by; none: never"),
    OptionSpec::boolean("nontemporal", true, "may large outputs be stored past the caches?"),
    OptionSpec::integers("threads", {128, 256, 512, 1024}, 1, 1024,
                         "of a device: choices of the number of threads per block"),
    OptionSpec::integers("vectors", {1, 2, 4, 8}, 1, 64,
                         "of a device: choices for the vectors that a thread has under way"));
