// Applies random instructions of every registered kind with random arguments to a schedule.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/support/random.h>
#include <tunesmith/trace/schedule.h>

namespace tunesmith::fuzz {

/// How often instructions of one kind were applied, and refused, by reason.
struct KindCount {
  int done = 0;
  std::map<std::string, int> refused;
};
using Coverage = std::map<std::string, KindCount>;

class RandomScheduler {
 public:
  RandomScheduler(const Program& program, RandomStream random);

  /// Tries one instruction and checks its contract. Returns "", or the violation: a refused call changed the
  /// schedule, threw something other than ScheduleError, or the program is not well formed.
  std::string step(Coverage& coverage);
  /// Tries one instruction without checks.
  void trusted_step();
  /// Tries, for some blocks, to use vectors and registers: caches pieces of reads or writes in a loop, makes
  /// buffers local, vectorizes or unrolls the innermost loop, and unrolls the one around it.
  void finish();

  const Schedule& schedule() const { return schedule_; }
  /// The number of block instances that the program runs.
  int64_t instances() const;

 private:
  void execute(const InstructionKind& kind, const std::vector<Arg>& args);
  std::vector<Arg> arguments(const InstructionKind& kind);
  Arg argument(const InstructionKind& kind, const ParamSpec& param);
  Arg block_arg(bool reduction = false);
  Arg loop_arg();
  Arg loops_arg();
  /// Loops of consecutive blocks.
  Arg neighbouring_loops();
  Arg factors_arg();
  Arg integer_arg(const std::string& name);
  Arg string_arg(const std::string& name);
  Arg integers_arg(const std::string& name);
  Arg scalar_arg();
  /// Splits a tile of the intrinsic's extents off a block's innermost loops; returns tensorize's arguments.
  std::vector<Arg> tile_and_intrinsic();
  /// Computes a block at a consumer's loop if possible; returns the arguments of rolling_buffer.
  std::vector<Arg> producer_under_a_loop();
  /// A reduction and a consumer of it, or a loop around that.
  std::vector<Arg> reduction_and_reader(bool loop);
  std::vector<Arg> read_and_copy();
  /// A map of the indices of a buffer that the already chosen block accesses.
  std::string index_map();

  const Block* random_block();
  /// Often the already chosen block, or one that it exchanges data with, since placement concerns these.
  const Block* random_neighbour();
  BlockRV handle_of(const Block& block);
  LoopRV handle_of(const Block& block, size_t depth);
  template <typename T>
  const T& pick(const std::vector<T>& items) {
    return items[random_.below(items.size())];
  }
  bool chance(uint64_t one_in) { return random_.below(one_in) == 0; }

  RandomStream random_;
  Schedule schedule_;
  std::optional<BlockId> last_block_;  // the block chosen for the current call's arguments
  std::vector<BlockRV> blocks_;
  std::vector<LoopRV> loops_;
  std::vector<IntRV> integers_;
};

}  // namespace tunesmith::fuzz
