// The tables of the stable interface, called as C calls them.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "api/handles.h"
#include "api/host.h"
#include "plugin/stable_plugin.h"
#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/plugin/error.h"
#include "unit/api/test_schedule.h"

namespace tunesmith {
namespace {

using api::text;
using api::view;

template <typename Table>
const Table& table(std::string_view id) {
  const auto* found = static_cast<const Table*>(api::k_host.table(text(id)));
  if (found == nullptr) throw std::runtime_error("no table " + std::string(id));
  return *found;
}
const tunesmith_error_table& errors() { return table<tunesmith_error_table>("tunesmith.error/1"); }
const tunesmith_schedule_table& schedules() {
  return table<tunesmith_schedule_table>("tunesmith.schedule/1");
}
const tunesmith_program_table& programs() { return table<tunesmith_program_table>("tunesmith.program/1"); }

/// The content of an error, which is then released.
struct Said {
  uint32_t kind = 0;
  std::string message, primitive, reason;
};
Said said(tunesmith_error* error) {
  if (error == nullptr) return {};
  tunesmith_error_info info = {};
  info.size = sizeof(info);
  errors().info(error, &info);
  Said result{info.kind, std::string(view(info.message)), std::string(view(info.primitive)),
              std::string(view(info.reason))};
  errors().release(error);
  return result;
}

struct Release {
  void operator()(tunesmith_schedule* schedule) const { schedules().release(schedule); }
};
using Owned = std::unique_ptr<tunesmith_schedule, Release>;

tunesmith_value variable(uint32_t number) {
  tunesmith_value value = {TUNESMITH_TAG_VARIABLE, 0, {}};
  value.as.integer = number;
  return value;
}

Said call(const Owned& schedule, const char* kind, const std::vector<tunesmith_value>& values,
          tunesmith_variables* results) {
  return said(
      schedules().call(schedule.get(), schedules().kind(text(kind)), values.data(), values.size(), results));
}

TEST(StableTables, AreFoundByNameAndBeginWithTheirSize) {
#define TABLE(name, id)                                                            \
  {                                                                                \
    const auto* found = static_cast<const uint64_t*>(api::k_host.table(text(id))); \
    ASSERT_NE(found, nullptr) << id;                                               \
    EXPECT_EQ(*found, sizeof(tunesmith_##name)) << id;                             \
  }
#include "api/table_list.inc"
#undef TABLE
  EXPECT_EQ(api::k_host.table(text("tunesmith.schedule/2")), nullptr);
  EXPECT_EQ(api::k_host.table(text("")), nullptr);
}

TEST(StableTables, OneFunctionCallsEveryInstruction) {
  const Owned schedule(tunesmith_test::make_gmm_schedule());
  tunesmith_variables block = {}, loops = {}, parts = {};
  EXPECT_EQ(call(schedule, "get_block", {api::value_of(std::string_view("C"))}, &block).message, "");
  EXPECT_EQ(call(schedule, "get_loops", {variable(block.first)}, &loops).message, "");
  ASSERT_EQ(loops.count, 3U);
  const tunesmith_value factors[] = {{TUNESMITH_TAG_NONE, 0, {}}, api::value_of(int64_t{4})};
  tunesmith_value list = {TUNESMITH_TAG_LIST, 2, {}};
  list.as.list = factors;
  EXPECT_EQ(call(schedule, "split", {variable(loops.first), list}, &parts).message, "");
  EXPECT_EQ(parts.count, 2U);

  EXPECT_EQ(schedule->schedule.trace().str(),
            "# tunesmith trace 2\nb0 = get_block(\"C\")\nl1, l2, l3 = get_loops(b0)\nl4, l5 = split(l1, "
            "[None, 4])\n");
}

TEST(StableTables, ARefusalIsAnErrorAndLeavesTheScheduleAsItWas) {
  const Owned schedule(tunesmith_test::make_gmm_schedule());
  tunesmith_variables block = {}, none = {};
  call(schedule, "get_block", {api::value_of(std::string_view("C"))}, &block);
  const std::string before = schedule->schedule.trace().str();
  const Said refused = call(schedule, "compute_inline", {variable(block.first)}, &none);
  EXPECT_EQ(refused.kind, uint32_t{TUNESMITH_ERROR_KIND_REFUSED});
  EXPECT_EQ(refused.primitive, "compute_inline");
  EXPECT_NE(refused.reason, "");
  EXPECT_NE(refused.message.find(refused.reason), std::string::npos);
  EXPECT_EQ(schedule->schedule.trace().str(), before);
}

TEST(StableTables, MistakesOfTheCallerAreMisuse) {
  const Owned schedule(tunesmith_test::make_gmm_schedule());
  const tunesmith_kind* get_loops = schedules().kind(text("get_loops"));
  EXPECT_EQ(schedules().kind(text("no_such_instruction")), nullptr);
  tunesmith_variables results = {};
  const tunesmith_value unknown = variable(77);
  tunesmith_value no_tag = {99, 0, {}};
  const auto misused = [](tunesmith_error* error) { return said(error).kind == TUNESMITH_ERROR_KIND_MISUSE; };
  EXPECT_TRUE(misused(schedules().call(schedule.get(), get_loops, &unknown, 1, &results)));
  EXPECT_TRUE(misused(schedules().call(schedule.get(), get_loops, &no_tag, 1, &results)));
  EXPECT_TRUE(misused(schedules().call(schedule.get(), get_loops, nullptr, 0, &results)));  // too few
  EXPECT_TRUE(misused(schedules().call(schedule.get(), nullptr, &unknown, 1, &results)));
  EXPECT_TRUE(misused(schedules().call(nullptr, get_loops, &unknown, 1, &results)));
  EXPECT_TRUE(misused(schedules().call(schedule.get(), get_loops, &unknown, 1, nullptr)));
  tunesmith_variables block = {};
  call(schedule, "get_block", {api::value_of(std::string_view("C"))}, &block);
  int64_t number = 0;
  uint32_t id = 0;
  EXPECT_TRUE(misused(schedules().integer(schedule.get(), block.first, &number)));  // it is a block
  EXPECT_TRUE(misused(schedules().loop(schedule.get(), block.first, &id)));
  EXPECT_TRUE(misused(schedules().block(schedule.get(), 77, &id)));
  const tunesmith_program* program = schedules().program(schedule.get());
  uint32_t answer = 0;
  EXPECT_TRUE(misused(programs().ask(program, 12345, TUNESMITH_QUESTION_ELEMENTWISE, &answer)));
  EXPECT_TRUE(misused(programs().ask(nullptr, 0, TUNESMITH_QUESTION_ELEMENTWISE, &answer)));
  const tunesmith_buffer* buffer = nullptr;
  EXPECT_TRUE(misused(programs().buffer(program, 12345, &buffer)));
}

TEST(StableTables, AQuestionOfANewerHeaderIsUnsupported) {
  const Owned schedule(tunesmith_test::make_gmm_schedule());
  const tunesmith_program* program = schedules().program(schedule.get());
  const uint32_t block = programs().find_block(program, text("C"));
  ASSERT_NE(block, TUNESMITH_NONE);
  EXPECT_EQ(programs().find_block(program, text("D")), TUNESMITH_NONE);
  uint32_t answer = 0;
  EXPECT_EQ(said(programs().ask(program, block, 1000, &answer)).kind,
            uint32_t{TUNESMITH_ERROR_KIND_UNSUPPORTED});
  EXPECT_EQ(said(programs().ask(program, block, TUNESMITH_QUESTION_HAS_REDUCTION, &answer)).message, "");
  EXPECT_EQ(answer, 1U);
}

TEST(StableTables, ErrorsOfPluginsBecomeTheKernelsExceptionsAndBack) {
  const auto make = [](uint32_t kind) {
    tunesmith_error_info info = {};
    info.size = sizeof(info);
    info.kind = kind;
    info.message = text("what happened");
    info.primitive = text("acme");
    info.reason = text("it does not fit");
    info.detail = text("3 > 2");
    return errors().make(&info);
  };
  EXPECT_THROW(api::rethrow(make(TUNESMITH_ERROR_KIND_USER)), UserError);
  EXPECT_THROW(api::rethrow(make(TUNESMITH_ERROR_KIND_ENVIRONMENT)), EnvironmentError);
  EXPECT_THROW(api::rethrow(make(TUNESMITH_ERROR_KIND_INTERNAL)), InternalError);
  EXPECT_THROW(api::rethrow(make(TUNESMITH_ERROR_KIND_MISUSE)), ScheduleMisuse);
  try {
    api::rethrow(make(TUNESMITH_ERROR_KIND_REFUSED));
  } catch (const ScheduleError& refusal) {
    EXPECT_EQ(refusal.primitive(), "acme");
    EXPECT_EQ(refusal.reason(), "it does not fit");
    EXPECT_EQ(refusal.detail(), "3 > 2");
  }
  EXPECT_EQ(said(errors().make(nullptr)).kind, uint32_t{TUNESMITH_ERROR_KIND_MISUSE});
}

// An older caller's struct is shorter; nothing behind its end is written.
TEST(StableTables, StructsOfOlderCallersAreFilledAsFarAsTheyGo) {
  tunesmith_error_info told = {};
  told.size = sizeof(told);
  told.kind = TUNESMITH_ERROR_KIND_USER;
  told.message = text("a message");
  tunesmith_error* error = errors().make(&told);
  tunesmith_error_info info = {};
  info.size = offsetof(tunesmith_error_info, message);
  errors().info(error, &info);
  EXPECT_EQ(info.kind, uint32_t{TUNESMITH_ERROR_KIND_USER});
  EXPECT_EQ(info.message.data, nullptr);
  errors().release(error);
}

template <typename T>
const T& element(const tunesmith_span& span, uint64_t i) {
  return *reinterpret_cast<const T*>(static_cast<const char*>(span.data) + i * span.stride);
}

TEST(StableTables, ASnapshotIsTheProgramAndIsReadOnceForEachState) {
  const Owned schedule(tunesmith_test::make_relu_schedule());
  const tunesmith_program* program = schedules().program(schedule.get());
  const tunesmith_snapshot *first = nullptr, *second = nullptr, *third = nullptr;
  ASSERT_EQ(programs().read(program, &first), nullptr);
  ASSERT_EQ(programs().read(program, &second), nullptr);
  EXPECT_EQ(first, second);

  size_t statements = 0, expressions = 0;
  walk(std::as_const(schedule->schedule.program().root()), [&](const Stmt&) { ++statements; });
  walk_exprs(schedule->schedule.program().root(), [&](const Expr&) { ++expressions; });
  EXPECT_EQ(first->statements.count, statements);
  EXPECT_EQ(first->expressions.count, expressions);
  EXPECT_EQ(first->buffers.count, schedule->schedule.program().buffers().size());
  std::vector<std::string> names;
  for (uint64_t i = 0; i < statements; ++i) {
    const auto& each = element<tunesmith_statement>(first->statements, i);
    EXPECT_TRUE(i == 0 ? each.parent == TUNESMITH_NONE : each.parent < i);
    if (each.kind == TUNESMITH_STATEMENT_KIND_BLOCK) names.emplace_back(view(each.name));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"C", "R"}));

  tunesmith_variables block = {}, loops = {}, none = {};
  call(schedule, "get_block", {api::value_of(std::string_view("R"))}, &block);
  call(schedule, "get_loops", {variable(block.first)}, &loops);
  ASSERT_EQ(call(schedule, "parallel", {variable(loops.first)}, &none).message, "");
  ASSERT_EQ(programs().read(program, &third), nullptr);
  EXPECT_NE(third, first);
  const auto parallel_loops = [](const tunesmith_snapshot& snapshot) {
    size_t count = 0;
    for (uint64_t i = 0; i < snapshot.statements.count; ++i)
      count += element<tunesmith_statement>(snapshot.statements, i).loop_kind == TUNESMITH_LOOP_KIND_PARALLEL
                   ? 1
                   : 0;
    return count;
  };
  EXPECT_EQ(parallel_loops(*first), 0U);  // unchanged
  EXPECT_EQ(parallel_loops(*third), 1U);
  for (const tunesmith_snapshot* each : {first, second, third}) programs().release(each);
}

TEST(StableTables, ACloneIsIndependent) {
  const Owned schedule(tunesmith_test::make_gmm_schedule());
  tunesmith_schedule* copy = nullptr;
  ASSERT_EQ(schedules().clone(schedule.get(), &copy), nullptr);
  const Owned other(copy);
  tunesmith_variables block = {};
  call(other, "get_block", {api::value_of(std::string_view("C"))}, &block);
  EXPECT_EQ(schedule->schedule.trace().size(), 0U);
  EXPECT_EQ(other->schedule.trace().size(), 1U);
}

TEST(Snapshot, HasTheSidesOfAHandover) {
  Program program;
  program.root().append(std::make_unique<Handover>("group.x", 4, std::make_unique<Barrier>("thread"),
                                                   std::make_unique<Barrier>("group")));
  const tunesmith_program viewed(program);
  const tunesmith_snapshot* snapshot = nullptr;
  ASSERT_EQ(said(programs().read(&viewed, &snapshot)).message, "");
  const auto* statements = static_cast<const tunesmith_statement*>(snapshot->statements.data);
  const auto* handover =
      std::find_if(statements, statements + snapshot->statements.count,
                   [](const auto& each) { return each.kind == TUNESMITH_STATEMENT_KIND_HANDOVER; });
  ASSERT_NE(handover, statements + snapshot->statements.count);
  EXPECT_EQ(view(handover->name), "group.x");
  EXPECT_EQ(handover->versions, 4);
  ASSERT_EQ(handover->children.count, 2U);
  const auto* links = static_cast<const uint32_t*>(snapshot->links.data) + handover->children.first;
  EXPECT_EQ(view(statements[links[0]].name), "thread");
  EXPECT_EQ(view(statements[links[1]].name), "group");
  programs().release(snapshot);
}

TEST(DescriptionTable, TakesTheRelationsThatItKnows) {
  const auto& descriptions = table<tunesmith_description_table>("tunesmith.description/1");
  tunesmith_description described;
  EXPECT_EQ(said(descriptions.add(&described, TUNESMITH_RELATION_MAKES, text("hint"))).message, "");
  EXPECT_EQ(said(descriptions.add(&described, TUNESMITH_RELATION_CONSUMES, text("other"))).message, "");
  EXPECT_EQ(said(descriptions.add(&described, TUNESMITH_RELATION_PARTNER, text("module"))).message, "");
  EXPECT_EQ(said(descriptions.add(&described, TUNESMITH_RELATION_BEFORE, text("third"))).message, "");
  EXPECT_EQ(described.description.makes, std::vector<std::string>{"hint"});
  EXPECT_EQ(described.description.consumes, std::vector<std::string>{"other"});
  EXPECT_EQ(described.description.partners, std::vector<std::string>{"module"});
  EXPECT_EQ(described.description.before, std::vector<std::string>{"third"});
  EXPECT_EQ(said(descriptions.add(&described, 1000, text("x"))).kind, TUNESMITH_ERROR_KIND_UNSUPPORTED);
  EXPECT_EQ(said(descriptions.add(nullptr, TUNESMITH_RELATION_MAKES, text("x"))).kind,
            TUNESMITH_ERROR_KIND_MISUSE);
}

/// A context whose description of the machine fails once for lack of memory.
class ForgetfulContext final : public ModuleContext {
 public:
  const DeviceModel& device() const override { return device_; }
  const ExecutionModel& execution() const override {
    if (--failures_ >= 0) throw std::bad_alloc();
    return host_execution();
  }
  const Program& original() const override { return program_; }
  bool has_extension(std::string_view /*name*/) const override { return false; }
  std::vector<TensorIntrinsicPtr> intrinsics(std::string_view /*extension*/) const override { return {}; }
  void claim(std::string_view /*block_name*/, std::string /*why*/) override {}

 private:
  DeviceModel device_;
  Program program_;
  mutable int failures_ = 1;
};

TEST(ContextTable, SaysWhenThereIsNoMemoryForTheMachine) {
  const auto& contexts = table<tunesmith_context_table>("tunesmith.context/1");
  ForgetfulContext context;
  const tunesmith_context told(context);
  EXPECT_EQ(contexts.execution(&told), nullptr);
  const tunesmith_execution* execution = contexts.execution(&told);
  ASSERT_NE(execution, nullptr);
  EXPECT_EQ(execution->scopes.count, host_execution().scopes.size());
}

TEST(StablePlugin, WhoseTableIsShorterThanVersionOneIsRefused) {
  tunesmith_module_interface functions = {};
  functions.stage = [](const void*) -> uint32_t { return TUNESMITH_STAGE_BLOCK; };
  tunesmith_plugin plugin = {};
  plugin.kind = TUNESMITH_PLUGIN_KIND_MODULE;
  plugin.id = text("short");
  plugin.interface = &functions;
  plugin.create = [](const tunesmith_options*, void** object) -> tunesmith_error* {
    static int something = 0;
    *object = &something;
    return nullptr;
  };
  plugin.destroy = [](void*) {};
  const Options options = Options::defaults({}, "module 'short'");
  functions.size = offsetof(tunesmith_module_interface, describe);
  EXPECT_THROW(make_stable_object(plugin, {}, options), PluginError);
  functions.size = sizeof(functions);
  EXPECT_NE(make_stable_object(plugin, {}, options), nullptr);
}

}  // namespace
}  // namespace tunesmith
