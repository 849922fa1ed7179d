// Splits the innermost loop of every block rightly, unless TUNESMITH_TEST_MISTAKE asks for a mistake.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include <tunesmith/analysis/blocks.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>

#include "mistake.h"

namespace {

using namespace tunesmith;

std::atomic<int> calls;
std::atomic<int> inside;
[[maybe_unused]] const std::jthread thread_while_loading =
    mistake("thread_while_loading") ? std::jthread([](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    })
                                    : std::jthread();

class BadModule final : public TransformationModule {
 public:
  explicit BadModule(const Options& options)
      : factor_(mistake("option_unread") ? 2 : options.get_int("factor")) {
    misbehave("create");
    if (mistake("option_lie") && factor_ == 64) throw std::runtime_error("64 was never tried");
    if (mistake("refuses_default")) options.fail("factor", "must be odd");
    if (mistake("undeclared_option")) static_cast<void>(options.get_bool("secret"));
  }

  ModuleStage stage() const override {
    misbehave("stage");
    return mistake("shrinks_a_loop_at_the_end") ? ModuleStage::Finishing : ModuleStage::Block;
  }

  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext& context) override {
    if (mistake("shrinks_a_loop_at_the_end"))
      return shrink(std::move(schedule), schedule.program().blocks().back()->name);
    misbehave("apply");
    if (mistake("begins_anew")) return ModuleResult::applied(Schedule(context.original()));
    if (mistake("throws")) throw std::runtime_error("boom in apply");
    if (mistake("throws_int")) throw 42;
    if (mistake("crashes")) std::abort();
    if (mistake("exits")) std::_Exit(0);
    if (mistake("hangs")) std::this_thread::sleep_for(std::chrono::hours(1));
    if (mistake("prints")) std::puts("hello from apply");
    if (mistake("no_reason")) return ModuleResult::not_applicable("");
    if (mistake("nothing")) return ModuleResult::not_applicable("there is nothing that it is for");
    if (mistake("no_schedule")) return ModuleResult::applied(std::vector<Schedule>{});
    if (mistake("shrinks_a_loop")) return shrink(std::move(schedule), name);
    const BlockRV block = schedule.get_block(name);
    if (!is_trivially_bound(schedule.block(block))) {
      if (mistake("expects_fresh_blocks")) return ModuleResult::broken("the block has been scheduled before");
      return ModuleResult::not_applicable("the block has been scheduled before");
    }
    if (mistake("undeclared_annotation")) schedule.annotate(block, "hint", int64_t{1});
    if (mistake("counts_calls")) schedule.annotate(block, "call", int64_t{calls++});
    if (mistake("shares_state")) {
      const bool alone = inside++ == 0;
      std::this_thread::sleep_for(std::chrono::microseconds(500));
      --inside;
      if (!alone) return ModuleResult::not_applicable("another thread is in here");
    }
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    if (mistake("dangles")) {
      schedule.split(loops.back(), {std::nullopt, 2});
      schedule.parallel(loops.back());
    }
    if (mistake("negative_tile")) schedule.split(loops.back(), {std::nullopt, -2});
    if (mistake("forks_a_lot")) {
      std::vector<Schedule> forks;
      for (int i = 0; i < 3000; ++i) {
        forks.push_back(schedule.clone());
        forks.back().annotate(block, "fork", int64_t{i});
      }
      return ModuleResult::applied(std::move(forks));
    }
    const std::vector<IntRV> factors =
        schedule.sample_perfect_tile(loops.back(), 2, static_cast<int>(factor_));
    schedule.split(loops.back(), {factors.begin(), factors.end()});
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  /// Changes the program behind the schedule's back, without a proof and without a record.
  static ModuleResult shrink(Schedule schedule, const std::string& name) {
    Schedule other = schedule.clone();
    const std::vector<LoopRV> loops = other.get_loops(other.get_block(name));
    other.loop(loops.back()).extent = int_imm(1);
    return ModuleResult::applied(std::move(other));
  }

  int64_t factor_;
};

}  // namespace

TUNESMITH_PLUGIN(BadModule, PluginKind::Module, "bad_module", "1.0.0",
                 "makes the mistake that it is asked for",
                 OptionSpec::integer("factor", 16, 1, 64, "largest inner part"));
