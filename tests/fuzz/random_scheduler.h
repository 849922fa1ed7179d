// Applies random instructions of every registered kind with random arguments to a schedule.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/support/random.h>
#include <tunesmith/trace/schedule.h>

namespace tunesmith::fuzz {

/// How often instructions of one kind were done and refused, by reason.
struct KindCount {
  int done = 0;
  std::map<std::string, int> refused;
};
using Coverage = std::map<std::string, KindCount>;

class RandomScheduler {
 public:
  RandomScheduler(const Program& program, RandomStream random);

  /// Tries one instruction, and whether it keeps its promises. Answers "" or which promise was broken: a
  /// refused call left the schedule changed, something else than ScheduleError was thrown, the program is not
  /// well formed.
  std::string step(Coverage& coverage);
  /// Tries one instruction, trusting it.
  void trusted_step();
  /// Tries, for some blocks, what brings their accesses into vectors and registers: pieces of what they read
  /// or write cached in a loop, buffers local, the innermost loop vectorized or unrolled, the one around it
  /// unrolled.
  void finish();

  const Schedule& schedule() const { return schedule_; }
  /// Instances of blocks that the program runs.
  int64_t instances() const;

 private:
  void execute(const InstructionKind& kind, const std::vector<Arg>& args);
  std::vector<Arg> arguments(const InstructionKind& kind);
  Arg argument(const InstructionKind& kind, const ParamSpec& param);
  Arg block_arg(bool reduction = false);
  Arg loop_arg();
  Arg loops_arg();
  /// Of blocks that stand one after the other.
  Arg neighbouring_loops();
  Arg factors_arg();
  Arg integer_arg(const std::string& name);
  Arg string_arg(const std::string& name);
  Arg integers_arg(const std::string& name);
  Arg scalar_arg();
  /// Cuts a tile of the intrinsic's extents out of a block's innermost loops; the arguments of tensorize.
  std::vector<Arg> tile_and_intrinsic();
  /// A block, computed at a loop of a consumer where that can be; the arguments of rolling_buffer.
  std::vector<Arg> producer_under_a_loop();
  std::vector<Arg> read_and_copy();
  /// A map of the indices of a buffer that the block named already accesses.
  std::string index_map();

  const Block* random_block();
  /// Often the block that the call names already, or one that it exchanges data with: what placement is
  /// about.
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
  std::optional<BlockId> last_block_;  // of the arguments being made
  std::vector<BlockRV> blocks_;
  std::vector<LoopRV> loops_;
  std::vector<IntRV> integers_;
};

}  // namespace tunesmith::fuzz
