// Loads and applies modules of the stable tier that were built with various headers and compilers.
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/plugin/registry.h>
#include <tunesmith/search/task_scheduler.h>
#include <tunesmith/space/module.h>
#include <tunesmith/stable/c/values.h>
#include <tunesmith/trace/schedule.h>
#include <tunesmith/workload/workload.h>

namespace tunesmith::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Context final : public ModuleContext {
 public:
  explicit Context(const Program& original) : original_(original) { device_.set("cores", 3); }
  const DeviceModel& device() const override { return device_; }
  const ExecutionModel& execution() const override { return host_execution(); }
  const Program& original() const override { return original_; }
  bool has_extension(std::string_view) const override { return false; }
  std::vector<TensorIntrinsicPtr> intrinsics(std::string_view) const override { return {}; }
  void claim(std::string_view block_name, std::string why) override { claims[std::string(block_name)] = why; }

  std::map<std::string, std::string> claims;

 private:
  const Program& original_;
  DeviceModel device_;
};

Program gmm() {
  return std::move(WorkloadDefinition::parse(
                       "name: t\ninputs: {A: {shape: [16, 8], dtype: f32}, B: {shape: [8, 16], dtype: "
                       "f32}}\ncompute: |\n  C[i<16, j<16] = sum(k<8) A[i, k] * B[k, j]\noutputs: [C]\n",
                       "t.yaml")
                       .instantiate()
                       .program);
}

/// A pack with one of the libraries, whose action an option chooses.
class Subject {
 public:
  explicit Subject(const std::string& library) {
    const std::filesystem::path manifest = std::filesystem::path(TEST_LIBRARIES) / (library + ".pack.json");
    registry_ =
        std::make_unique<PluginRegistry>(PluginSearch{.command_line = {{manifest}}, .defaults = false});
  }

  std::shared_ptr<TransformationModule> make(const std::string& what = "splits") {
    RawOption option{"what",
                     {"spaces.yaml", 3, 5},
                     RawOption::Shape::Scalar,
                     {{what, {"spaces.yaml", 3, 11}}},
                     {"spaces.yaml", 3, 11}};
    const Options options = Options::validate(registry_->option_specs(PluginKind::Module, "subject"),
                                              {{option}}, plugin_name(PluginKind::Module, "subject"));
    return registry_->create<TransformationModule>("subject", options);
  }
  PluginRegistry& registry() { return *registry_; }

 private:
  std::unique_ptr<PluginRegistry> registry_;
};

ModuleResult apply(const std::string& what) {
  Subject subject("stable_subject");
  const Program program = gmm();
  Context context(program);
  return subject.make(what)->apply(Schedule(program, RandomStream(1)), "", context);
}

std::string said(const std::string& what) {
  try {
    (void)apply(what);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

class StableModules : public testing::TestWithParam<const char*> {};

TEST_P(StableModules, AModuleLoadsAndDoesItsWork) {
  Subject subject(GetParam());
  EXPECT_EQ(subject.registry().plugin_version(PluginKind::Module, "subject"), "1.2.3");
  EXPECT_EQ(subject.registry().help(PluginKind::Module, "subject"), "does what it is told");
  const std::shared_ptr<TransformationModule> module = subject.make();
  EXPECT_EQ(module->stage(), ModuleStage::Root);
  const Program program = gmm();
  Context context(program);
  ModuleResult result = module->apply(Schedule(program, RandomStream(1)), "", context);
  ASSERT_EQ(result.status(), ModuleResult::Status::Applied);
  ASSERT_EQ(result.schedules().size(), 1U);
  EXPECT_EQ(result.schedules()[0].trace().with_open_decisions().str(),
            "# tunesmith trace 2\nb0 = get_block(\"C\")\nl1, l2, l3 = get_loops(b0)\n"
            "v4 = sample_categorical([2, 4], [0.5, 0.5])\nl5, l6 = split(l1, [None, v4])\n"
            "annotate(root, \"cores\", 3)\n");
  EXPECT_EQ(context.claims.at("C"), "it is split");
}

// Exceptions of two run times do not cross; an exception that began in the kernel returns to it unchanged.
TEST_P(StableModules, ErrorsCrossAsObjects) {
  Subject subject(GetParam());
  const Program program = gmm();
  Context context(program);
  EXPECT_THROW((void)subject.make("refused")->apply(Schedule(program, RandomStream(1)), "", context),
               ScheduleError);
  EXPECT_THROW((void)subject.make("throws")->apply(Schedule(program, RandomStream(1)), "", context),
               InternalError);
}

const auto kName = [](const auto& info) { return std::string(info.param); };
INSTANTIATE_TEST_SUITE_P(Built, StableModules,
                         testing::Values("stable_subject", "stable_subject_of_later_headers"), kName);
#if TEST_FOREIGN
// Built by another compiler with a separate standard library.
INSTANTIATE_TEST_SUITE_P(Foreign, StableModules, testing::Values("stable_subject_of_clang"), kName);
#endif

TEST(StableTier, ATaskSchedulerInPlainCIsOneLikeAnyOther) {
  PluginRegistry registry(
      {.command_line = {{TEST_LIBRARIES "/stable_plain_c.pack.json"}}, .defaults = false});
  const auto scheduler = registry.create<TaskScheduler>(
      "plain_c", Options::defaults(registry.option_specs(PluginKind::TaskScheduler, "plain_c"), "plain_c"));
  std::vector<TaskHistory> tasks(3);
  tasks[0].trials = 16;
  tasks[1].trials = 8;
  tasks[2].done = true;
  EXPECT_EQ(scheduler->next({tasks, 8}), 1U);
  tasks[1].done = true;
  EXPECT_EQ(scheduler->next({tasks, 8}), 0U);
}

TEST(StableTier, OneThatNeedsANewerMinorIsRefusedWithBothNumbers) {
  Subject subject("stable_subject_that_needs_later");
  try {
    subject.registry().option_specs(PluginKind::Module, "subject");
    FAIL() << "it was loaded";
  } catch (const PluginError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("[P2]"),
                      HasSubstr(fmt::format("needs 1.{}, this is 1.{}", TUNESMITH_STABLE_NEWEST_MINOR + 1,
                                            TUNESMITH_STABLE_NEWEST_MINOR))));
  }
}

TEST(StableTier, AnswersAreTheKernels) {
  EXPECT_EQ(apply("declines").status(), ModuleResult::Status::NotApplicable);
  EXPECT_EQ(apply("declines").reason(), "there is nothing to do");
  EXPECT_EQ(apply("breaks").status(), ModuleResult::Status::Broken);
  EXPECT_EQ(apply("breaks").reason(), "it met the impossible");
  EXPECT_EQ(apply("forks").schedules().size(), 2U);
}

// An exception that began in the kernel arrives as the same object, one that began in the plugin as its text.
TEST(StableTier, ErrorsThatLeaveAModuleAreTheKernels) {
  EXPECT_THROW((void)apply("refused"), ScheduleError);
  EXPECT_THAT(said("refused"), HasSubstr("compute_inline"));
  EXPECT_THROW((void)apply("misuses"), ScheduleMisuse);
  EXPECT_THROW((void)apply("lacks_quantity"), EnvironmentError);
  EXPECT_THAT(said("lacks_quantity"), HasSubstr("no_such_quantity"));
  EXPECT_THROW((void)apply("throws"), InternalError);
  EXPECT_EQ(said("throws"), "a mistake of its own");
  EXPECT_EQ(said("throws_int"), "something that is no exception");
}

TEST(StableTier, ErrorsOfConstructorsNameThePlaceAndThePlugin) {
  EXPECT_THAT(said("fails_in_create"),
              AllOf(HasSubstr("spaces.yaml:3:11: "),
                    HasSubstr("option 'what' of module 'subject': it does not go together")));
  EXPECT_THAT(said("throws_in_create"), HasSubstr("module 'subject': [P12] create threw: no reason"));
}

}  // namespace
}  // namespace tunesmith::test
