// A module that lets the search choose a mistake: the annotation "mistake" of the program.
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/space/module.h>

namespace {

using namespace tunesmith;

class ChooseMistake final : public TransformationModule {
 public:
  explicit ChooseMistake(const Options& options) : among_(options.get_ints("among")) {}

  ModuleStage stage() const override { return ModuleStage::Root; }

  ModuleResult apply(Schedule schedule, const std::string&, ModuleContext&) override {
    const std::vector<double> equal(among_.size(), 1.0 / static_cast<double>(among_.size()));
    schedule.annotate("mistake", schedule.sample_categorical(among_, equal));
    return ModuleResult::applied(std::move(schedule));
  }

 private:
  std::vector<int64_t> among_;
};

}  // namespace

TUNESMITH_PLUGIN(ChooseMistake, PluginKind::Module, "choose_mistake", "1.0.0",
                 "annotate the program with a mistake",
                 OptionSpec::integers("among", {0}, 0, 1000, "numbers of the mistakes to choose from"));
