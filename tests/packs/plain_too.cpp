// A module that forks the space: one branch leaves a block to later modules, the other splits its outermost
// loop, so that a script for the original loops declines and half of the programs call no instruction.
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>

namespace {

using namespace tunesmith;

class PlainToo final : public TransformationModule {
 public:
  explicit PlainToo(const Options& options) : max_rows_(static_cast<int>(options.get_int("max_rows"))) {}

  ModuleResult apply(Schedule schedule, const std::string& name, ModuleContext&) override {
    Schedule plain = schedule.clone();
    const std::vector<LoopRV> loops = plain.get_loops(plain.get_block(name));
    if (loops.empty()) return ModuleResult::not_applicable("there is no loop to split");
    const std::vector<IntRV> rows = plain.sample_perfect_tile(loops[0], 2, max_rows_);
    plain.parallel(plain.split(loops[0], {rows[0], rows[1]})[0]);
    std::vector<Schedule> both;
    both.push_back(std::move(schedule));
    both.push_back(std::move(plain));
    return ModuleResult::applied(std::move(both));
  }

 private:
  int max_rows_;
};

}  // namespace

TUNESMITH_PLUGIN(PlainToo, PluginKind::Module, "plain_too", "1.0.0",
                 "leave each block to the modules after it, and split it for itself",
                 OptionSpec::integer("max_rows", 8, 1, 64, "largest inner part"));
