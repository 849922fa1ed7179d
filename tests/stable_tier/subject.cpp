// A module of the stable tier that does what its option says, rightly or wrongly.
#include <stdexcept>

#include <tunesmith/stable/module.h>

namespace {

using namespace tunesmith;

class Subject final : public TransformationModule {
 public:
  explicit Subject(const Options& options)
      : what_(options.get_string("what")), factors_(options.get_ints("factors")) {
    if (what_ == "fails_in_create") options.fail("what", "it does not go together");
    if (what_ == "throws_in_create") throw std::runtime_error("no reason");
  }

  ModuleStage stage() const override { return ModuleStage::Root; }

  ModuleResult apply(Schedule schedule, const std::string& /*block_name*/, ModuleContext& context) override {
    const BlockRV block = schedule.get_block("C");
    if (what_ == "declines") return ModuleResult::not_applicable("there is nothing to do");
    if (what_ == "breaks") return ModuleResult::broken("it met the impossible");
    if (what_ == "throws") throw std::logic_error("a mistake of its own");
    if (what_ == "throws_int") throw 7;
    if (what_ == "refused") schedule.compute_inline(block);
    if (what_ == "misuses") schedule.parallel(LoopRV{{1000}});
    if (what_ == "lacks_quantity") (void)context.device().get("no_such_quantity");
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    if (what_ == "forks") {
      std::vector<Schedule> both;
      both.push_back(schedule.clone());
      schedule.parallel(loops[0]);
      both.push_back(std::move(schedule));
      return ModuleResult::applied(std::move(both));
    }
    const std::vector<double> even(factors_.size(), 1.0 / static_cast<double>(factors_.size()));
    schedule.split(loops[0], {std::nullopt, schedule.sample_categorical(factors_, even)});
    schedule.annotate("cores", static_cast<int64_t>(context.device().get("cores")));
    context.claim("C", "it is split");
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  std::string what_;
  std::vector<int64_t> factors_;
};

}  // namespace

TUNESMITH_PLUGIN(Subject, PluginKind::Module, "subject", "1.2.3", "does what it is told",
                 OptionSpec::choice("what", "splits",
                                    {"splits", "declines", "breaks", "throws", "throws_int", "refused",
                                     "misuses", "lacks_quantity", "forks", "fails_in_create",
                                     "throws_in_create"},
                                    "what to do"),
                 OptionSpec::integers("factors", {2, 4}, 1, 64, "choices for the inner part"));
