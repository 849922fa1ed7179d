// The conformance kit against plugins that are right, and against the same plugins with one mistake each:
// every check of every suite has a mistake that fails it.
#include <cstdlib>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/conformance/conformance.h>

namespace tunesmith::conformance {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

SpacesFile spaces() { return SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml"); }

PluginSearch search() {
  PluginSearch search;
  search.command_line = {{BAD_PLUGINS}};
  return search;
}

Report verify(PluginKind kind, const std::string& mistake, VerifyOptions options = {}) {
  setenv("TUNESMITH_TEST_MISTAKE", mistake.c_str(), 1);
  PluginRegistry registry(search());
  Report report = verify_plugin(registry, kind, "bad_" + std::string(kind_name(kind)), spaces(), options);
  unsetenv("TUNESMITH_TEST_MISTAKE");
  return report;
}

const CheckResult& result_of(const Report& report, const std::string& check) {
  for (const CheckResult& result : report.results) {
    if (result.check == check) return result;
  }
  throw std::out_of_range("no check " + check);
}

struct Mistake {
  PluginKind kind;
  const char* name;
  const char* check;  // that must fail
  const char* rule;
  const char* reason;  // part of it
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << kind_name(mistake.kind) << " " << mistake.name;
}

class AMistake : public testing::TestWithParam<Mistake> {};

TEST_P(AMistake, FailsItsCheckWithTheRuleAndTheReason) {
  VerifyOptions options{.checks = {GetParam().check}};
  if (std::string(GetParam().name).starts_with("hangs")) options.seconds = 2;
  const Report report = verify(GetParam().kind, GetParam().name, options);
  const CheckResult& result = result_of(report, GetParam().check);
  EXPECT_EQ(result.outcome, Outcome::Failed) << report.str();
  EXPECT_EQ(result.rule, GetParam().rule) << report.str();
  EXPECT_THAT(result.reason, HasSubstr(GetParam().reason));
  EXPECT_FALSE(report.ok());
}

constexpr PluginKind kModule = PluginKind::Module;
constexpr PluginKind kSearcher = PluginKind::Searcher;
constexpr PluginKind kCostModel = PluginKind::CostModel;
constexpr PluginKind kTaskScheduler = PluginKind::TaskScheduler;
constexpr PluginKind kImporter = PluginKind::Importer;
constexpr PluginKind kRunner = PluginKind::Runner;
constexpr PluginKind kTarget = PluginKind::Target;
constexpr PluginKind kExtension = PluginKind::Extension;

const Mistake kMistakes[] = {
    {kModule, "thread_while_loading", "loads", "P17", "loading it started threads: 1"},
    {kModule, "option_lie", "options", "P13", "factor: 64 is declared, but: "},
    {kModule, "refuses_default", "options", "P13", "it refuses its own defaults"},
    {kModule, "undeclared_option", "options", "P13", "declares no option 'secret'"},
    {kModule, "option_unread", "options_are_read", "P13",
     "the option 'factor', but its constructor never reads it"},
    {kModule, "throws", "contract", "P12", "threw: boom in apply"},
    {kModule, "throws_int", "contract", "P12", "no exception"},
    {kModule, "crashes", "contract", "P12", "it ended its process by: Aborted"},
    {kModule, "exits", "contract", "P12", "it ended its process with exit code 0"},
    {kModule, "hangs", "contract", "P22", "it did not end within 2 seconds"},
    {kModule, "prints", "contract", "P21", "hello from apply"},
    {kModule, "dangles", "contract", "P12", "invalid call of parallel: the loop no longer exists"},
    {kModule, "no_reason", "contract", "P12", "without a reason of one line"},
    {kModule, "no_schedule", "contract", "P12", "answered Applied without a schedule"},
    {kModule, "shrinks_a_loop", "trace", "P23", "replaying its trace gives another program"},
    {kModule, "shrinks_a_loop_at_the_end", "legality", "P23", ", reference "},
    {kModule, "undeclared_annotation", "annotations", "P23",
     "it leaves the annotation 'hint', which its description() does not name"},
    {kModule, "counts_calls", "determinism", "P19", "asked again, it answered something else"},
    {kModule, "shares_state", "threads", "P20", "with several threads it answered something else"},
    {kModule, "expects_fresh_blocks", "scheduled_input", "P23", "the block has been scheduled before"},
    {kSearcher, "proposes_null", "contract", "P24", "a null pointer"},
    {kSearcher, "proposes_twice", "contract", "P24", "a program a second time"},
    {kSearcher, "proposes_too_many", "contract", "P24", "asked for 16, it proposed 17"},
    {kSearcher, "expects_one_more", "contract", "P24", "of 16 candidates it expects 17 numbers"},
    {kSearcher, "expects_no_number", "contract", "P24", "it expects a number that is not finite"},
    {kSearcher, "own_random_numbers", "determinism", "P19", "gave other candidates in a second run"},
    {kSearcher, "forgets_the_history", "resume", "P24", "another object, told the history"},
    {kSearcher, "shares_state", "threads", "P20", "while another object searched"},
    {kSearcher, "needs_success", "failures", "P24", "nothing worked"},
    {kSearcher, "never_ends", "exhaustion", "P24", "of a space of one program it proposed"},
    {kCostModel, "nan", "contract", "P25", "a score is nan"},
    {kCostModel, "one_too_few", "contract", "P25", "scores for"},
    {kCostModel, "predicting_learns", "predicting_changes_nothing", "P25", "predict() gave other scores"},
    {kCostModel, "objects_differ", "determinism", "P19", "a second object that learned the same"},
    {kCostModel, "shares_state", "threads", "P20", "two objects in two threads"},
    {kCostModel, "divides_by_the_best", "failures", "P25", "that failed a score is"},
    {kCostModel, "loads_nothing", "saving", "P25", "loaded again, it gave other scores"},
    {kTaskScheduler, "chooses_none", "contract", "P28", "it chose task 6 of 6"},
    {kTaskScheduler, "chooses_what_is_done", "contract", "P28", "it chose a task that is done"},
    {kTaskScheduler, "objects_differ", "determinism", "P19", "a second object, told the same"},
    {kTaskScheduler, "counts_questions", "resume", "P28", "a new object for each question"},
    {kTaskScheduler, "shares_state", "threads", "P20", "while another object was asked"},
    {kTaskScheduler, "needs_success", "extremes", "P28", "nothing worked"},
    {kImporter, "throws_at_damage", "contract", "P30", "end in no UserError: beyond the end"},
    {kImporter, "broken_network", "contract", "P30", "it makes what is no network: "},
    {kImporter, "invents_operators", "operators", "P30", "it finds an operator called 'no such operator'"},
    {kImporter, "objects_differ", "determinism", "P19", "a second object answered something else"},
    {kImporter, "counts_questions", "determinism", "P19", "asked again, it answered something else"},
    {kImporter, "shares_state", "threads", "P20", "with several threads"},
    {kRunner, "one_too_few", "contract", "P31", "it answered 1 of 2 requests"},
    {kRunner, "another_order", "contract", "P31", "a right program failed: "},
    {kRunner, "times_a_failure", "contract", "P31", "an answer has a time and a failure"},
    {kRunner, "throws_in_run", "contract", "P31", "boom"},
    {kRunner, "moves", "place", "P31", "asked again, it measures elsewhere"},
    {kRunner, "blames_the_program", "stop", "P31", "stopped, its answer is not the failure worker_lost"},
    {kRunner, "forgets_a_round", "in_turn", "P31", "of 4 rounds it has 3 samples"},
    {kTarget, "no_cores", "contract", "P26", "it does not say how many cores"},
    {kTarget, "nan_quantity", "contract", "P26", "the quantity hope is nan"},
    {kTarget, "objects_differ", "contract", "P19", "describe different machines"},
    {kTarget, "wrong_result", "results", "P26", ", reference "},
    {kTarget, "compiles_some", "results", "P26", "it compiles some of the kit's programs, but not"},
    {kTarget, "shares_state", "threads", "P20", "compiling already"},
    {kTarget, "throws_at_damage", "failures", "P26", "a damaged object is no EnvironmentError: at"},
    {kTarget, "loads_damage", "failures", "P26", "it loads an object that is damaged"},
    {kTarget, "writes_no_library", "library", "P26", "wrote no libconformance.so"},
    {kTarget, "promises_to_prepare", "preparation", "P26", "compile() gives no step"},
    {kExtension, "infinite_quantity", "contract", "P27", "it sets the quantity bad_units to inf"},
    {kExtension, "impossible_vectors", "contract", "P27", "vectors of 3 bits"},
    {kExtension, "describes_anew", "determinism", "P19", "describe different machines"},
    {kExtension, "pass_shrinks_loops", "legality", "P27", "lowered with it: "},
    {kExtension, "column_without_meaning", "features", "P27", "the column 'bad_loops' has no meaning"},
    {kExtension, "column_is_taken", "features", "P27", "column 'depth' already exists"},
    {kExtension, "column_with_spaces", "features", "P27", "'bad loops' is not a column name"},
    {kExtension, "column_is_no_number", "features", "P27", "a column gives what is no finite number"},
    {kExtension, "column_counts_calls", "features", "P27", "one program has different numbers"},
    {kExtension, "wrong_letter", "intrinsics", "P27",
     "unit.yaml:16: intrinsic bad_axpy_2: its implementation does"},
    {kExtension, "forgets_the_sum", "intrinsics", "P27", "does not compute its semantics: "},
    {kExtension, "ignores_the_stride", "intrinsics", "P27",
     "unit.yaml:39: intrinsic bad_rows: its implementation does not compute its semantics: "},
    {kExtension, "cuts_the_stride", "intrinsics", "P27",
     "unit.yaml:39: intrinsic bad_rows: its implementation does not compute its semantics: "},
    {kExtension, "cannot_be_set_up", "intrinsics", "P27",
     "unit.yaml:5: extension bad_unit: the set-up of the process failed: it returned 22"},
    {kExtension, "does_not_parse", "intrinsics", "P27", "unit.yaml:20: tensor intrinsic bad_axpy_2: "},
    {kExtension, "wrong_return_type", "intrinsics", "P27", "unit.yaml:20: tensor intrinsic bad_axpy_2: "},
    {kExtension, "missing_argument", "intrinsics", "P27", "use of undefined value '%B'"},
    {kExtension, "saturates", "intrinsics", "P27",
     "unit.yaml:53: intrinsic bad_axpy_i32: its implementation does"},
    {kExtension, "multiplies_low_halves", "intrinsics", "P27", "bad_axpy_i32: its implementation does not"},
    {kExtension, "clamps_at_6", "intrinsics", "P27", "bad_relu_4: its implementation does not compute"},
    {kExtension, "flushes_denormals", "intrinsics", "P27", "bad_relu_4: its implementation does not compute"},
    {kExtension, "keeps_a_nan", "intrinsics", "P27", "bad_relu_4: its implementation does not compute"},
    {kExtension, "wrong_layout", "intrinsics", "P27", "bad_transpose: its implementation does not compute"},
    {kExtension, "illegal_instruction", "intrinsics", "P12",
     "unit.yaml:16: intrinsic bad_axpy_2: running it: it ended its process by: Illegal instruction (the "
     "processor lacks an instruction of it, or the process lacks a permission that one needs)"},
    {kExtension, "hangs_in_code", "intrinsics", "P22",
     "unit.yaml:16: intrinsic bad_axpy_2: running it: it did not end within 2 seconds"},
    {kExtension, "ends_the_compiler", "intrinsics", "P12",
     "unit.yaml:16: intrinsic bad_axpy_2: compiling a call of it: it ended its process by: Aborted"},
    {kExtension, "no_such_mnemonic", "hardware", "P27",
     "unit.yaml:16: tensor intrinsic bad_axpy_2: invalid instruction mnemonic 'no_such_mnemonic'"},
    {kExtension, "probe_throws", "hardware", "P27", "boom in probe"},
};
INSTANTIATE_TEST_SUITE_P(Conformance, AMistake, testing::ValuesIn(kMistakes), [](const auto& mistake) {
  return std::string(kind_name(mistake.param.kind)) + "_" + mistake.param.name;
});

class NoMistake : public testing::TestWithParam<PluginKind> {};

TEST_P(NoMistake, PassesAndEveryCheckHasAMistakeThatFailsIt) {
  const Report report = verify(GetParam(), "");
  EXPECT_TRUE(report.ok()) << report.str();
  for (const CheckResult& result : report.results) {
    const bool covered = std::ranges::any_of(kMistakes, [&](const Mistake& mistake) {
      // Mistakes that any kind can make are tried with a module.
      return mistake.check == result.check && (mistake.kind == GetParam() || mistake.kind == kModule);
    });
    EXPECT_TRUE(covered) << result.check << " has no test that fails it";
    EXPECT_EQ(result.reason.empty(), result.outcome == Outcome::Passed) << report.str();
  }
}
INSTANTIATE_TEST_SUITE_P(Conformance, NoMistake, testing::ValuesIn(kPluginKinds),
                         [](const auto& kind) { return std::string(kind_name(kind.param)); });

TEST(Outcomes, WhatIsMissingHereIsUnsupportedWithItsName) {
  const VerifyOptions results{.checks = {"results"}};
  const CheckResult target = result_of(verify(kTarget, "not_here", results), "results");
  EXPECT_EQ(target.outcome, Outcome::Unsupported);
  EXPECT_EQ(target.reason, "this machine lacks the flux unit");
  EXPECT_EQ(result_of(verify(kTarget, "compiles_nothing", results), "results").outcome, Outcome::Unsupported);
  const Report extension = verify(kExtension, "not_here", {.checks = {"hardware", "intrinsics"}});
  EXPECT_EQ(result_of(extension, "hardware").outcome, Outcome::Unsupported);
  EXPECT_EQ(result_of(extension, "intrinsics").outcome, Outcome::Unsupported);
  EXPECT_THAT(result_of(extension, "intrinsics").reason,
              HasSubstr("lacks the flux unit: the calls are right"));
  EXPECT_TRUE(extension.ok());
}

TEST(Outcomes, ASpaceIsComposedWithoutWhatEndsTheCompiler) {
  const Report report = verify(kExtension, "ends_the_compiler", {.checks = {"hardware"}});
  EXPECT_EQ(result_of(report, "hardware").outcome, Outcome::Failed);
  EXPECT_THAT(result_of(report, "hardware").reason,
              AllOf(HasSubstr("unit.yaml:16:9: extension 'bad_extension': tensor intrinsic bad_axpy_2 cannot "
                              "be compiled: the compiler failed (Aborted): LLVM ERROR: Cannot select"),
                    testing::Not(HasSubstr("requires"))));
}

/// A module is checked in its space, whose target and extensions need hardware.
TEST(Outcomes, AModuleWhoseHardwareIsMissingIsUnsupported) {
  setenv("TUNESMITH_TEST_MISTAKE", "not_here", 1);
  PluginRegistry registry(search());
  const SpacesFile demanding = SpacesFile::parse(
      "version: 1\nspaces:\n  s: {extends: cpu, target: {with+: [bad_extension]}, modules: [bad_module]}\n",
      "demanding.yaml");
  const Report report = verify_plugin(registry, kModule, "bad_module", demanding, {});
  unsetenv("TUNESMITH_TEST_MISTAKE");
  EXPECT_TRUE(report.ok()) << report.str();
  for (const char* check : {"contract", "trace", "determinism", "threads", "legality", "scheduled_input"}) {
    EXPECT_EQ(result_of(report, check).outcome, Outcome::Unsupported) << check;
    EXPECT_EQ(result_of(report, check).reason,
              "this machine lacks the flux unit for extension 'bad_extension'");
  }
  EXPECT_EQ(result_of(report, "loads").outcome, Outcome::Passed);
}

TEST(Outcomes, APluginThatLacksALibraryIsUnsupported) {
  const Report report = verify(kCostModel, "lacks_a_library");
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(report.count(Outcome::Unsupported), report.results.size() - 1);
  EXPECT_EQ(result_of(report, "loads").outcome, Outcome::Passed);
  EXPECT_EQ(report.results.back().reason, "cost_model 'bad_cost_model': libhope is not installed");
}

TEST(Outcomes, WhereThereIsNothingToCheckItIsSkippedWithTheReason) {
  const Report module = verify(kModule, "nothing", {.checks = {"legality"}});
  EXPECT_EQ(result_of(module, "legality").outcome, Outcome::Skipped);
  EXPECT_THAT(result_of(module, "legality").reason, HasSubstr("name a workload it is for"));
  const Report searcher = verify(kSearcher, "proposes_nothing", {.checks = {"contract"}});
  EXPECT_EQ(result_of(searcher, "contract").outcome, Outcome::Skipped);
}

TEST(Outcomes, OnlyWhatIsNamedIsRun) {
  const Report report = verify(kModule, "", {.checks = {"options"}});
  ASSERT_EQ(report.results.size(), 2U) << report.str();
  EXPECT_EQ(report.results[0].check, "loads");
  EXPECT_EQ(report.results[1].check, "options");
  EXPECT_THAT([] { verify(kModule, "", {.checks = {"legalty"}}); },
              ThrowsMessage<UserError>(HasSubstr("unknown check 'legalty'")));
}

TEST(Outcomes, APluginThatDoesNotLoadFailsOnceAndIsSkippedThen) {
  const Report report = verify(kModule, "thread_while_loading");
  EXPECT_EQ(report.count(Outcome::Failed), 1U);
  EXPECT_EQ(report.count(Outcome::Skipped), report.results.size() - 1);
  EXPECT_EQ(report.results.back().reason, "the plugin does not load");
}

TEST(Outcomes, AFailureThatIsExpectedIsNoFaultAndAPassThatIsNotIsOne) {
  VerifyOptions options{.checks = {"threads"}};
  options.expected = {Expectation::parse("module:bad_module/threads=one lock is still missing")};
  const Report known = verify(kModule, "shares_state", options);
  EXPECT_EQ(result_of(known, "threads").outcome, Outcome::ExpectedFailure);
  EXPECT_THAT(result_of(known, "threads").reason,
              AllOf(HasSubstr("one lock is still missing ("), HasSubstr("with several threads")));
  EXPECT_TRUE(known.ok()) << known.str();
  const Report mended = verify(kModule, "", options);
  EXPECT_EQ(result_of(mended, "threads").outcome, Outcome::UnexpectedPass);
  EXPECT_FALSE(mended.ok());
}

TEST(Outcomes, AnExpectationHasAReason) {
  for (const char* text : {"module:x/threads", "module:x/threads=", "threads=why", "=why"}) {
    EXPECT_THAT([&] { Expectation::parse(text); },
                ThrowsMessage<UserError>(HasSubstr("KIND:ID/CHECK=REASON")));
  }
}

TEST(VerifyPack, TakesThePluginsOfThePathAndNoOthers) {
  const Report report =
      verify_pack(BAD_PLUGINS "/bad_cost_model.pack.json", search(), spaces(), {.checks = {"options"}});
  std::set<std::string> ids;
  for (const CheckResult& result : report.results) ids.insert(result.id);
  EXPECT_EQ(ids, std::set<std::string>{"bad_cost_model"});
  EXPECT_TRUE(report.ok()) << report.str();
}

TEST(VerifyPack, APathWithoutPluginsIsAnError) {
  EXPECT_THAT([] { verify_pack("/tmp", PluginSearch{.defaults = false}, spaces(), {}); },
              ThrowsMessage<UserError>(HasSubstr("/tmp has no plugins")));
}

TEST(VerifyPack, AnExpectationThatNamesNoCheckIsAnError) {
  VerifyOptions options{.checks = {"options"}};
  options.expected = {Expectation::parse("cost_model:bad_cost_model/speed=slow")};
  EXPECT_THAT([&] { verify_pack(BAD_PLUGINS "/bad_cost_model.pack.json", search(), spaces(), options); },
              ThrowsMessage<UserError>(HasSubstr("unknown check 'cost_model:bad_cost_model/speed'")));
}

}  // namespace
}  // namespace tunesmith::conformance
