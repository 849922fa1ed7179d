// Joined programs, whose threads run from barrier to barrier.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith {
namespace {

constexpr int64_t kThreads = 8;

/// for t bind(thread.x) { `body` }, with an input X, a shared S and an output O that have a number for each
/// thread.
struct Launch {
  Launch() {
    program.name = "launch";
    program.inputs = {input};
    program.outputs = {output};
  }

  StmtPtr store(const Buffer& to, const Expr& at, const Expr& value) const {
    return std::make_unique<Store>(to, std::vector<Expr>{at}, value);
  }
  StmtPtr barrier() const { return std::make_unique<Barrier>("thread"); }

  /// `shared` is allocated around the threads, `own` inside.
  std::vector<double> run(std::vector<StmtPtr> body) {
    auto inside = std::make_unique<Allocate>(own, std::make_unique<Seq>(std::move(body)));
    auto threads = program.make_loop(t, kThreads, std::move(inside));
    threads->loop_kind = LoopKind::Bound;
    threads->thread = "thread.x";
    program.root().append(std::make_unique<Allocate>(shared, std::move(threads)));
    std::vector<Tensor> arguments{Tensor::like(*input), Tensor::like(*output)};
    for (int64_t i = 0; i < kThreads; ++i) arguments[0].set(i, static_cast<double>(10 * i));
    interpret(program, arguments);
    std::vector<double> result;
    for (int64_t i = 0; i < kThreads; ++i) result.push_back(arguments[1].get(i));
    return result;
  }

  Program program;
  Buffer input = make_buffer("X", kF32, {kThreads});
  Buffer output = make_buffer("O", kF32, {kThreads});
  Buffer shared = make_buffer("S", kF32, {kThreads}, "shared");
  Buffer own = make_buffer("R", kF32, {1}, "local");
  Var t{"t"};
};

template <typename... Stmts>
std::vector<StmtPtr> list(Stmts... stmts) {
  std::vector<StmtPtr> result;
  (result.push_back(std::move(stmts)), ...);
  return result;
}

void expect_mistake(Launch& launch, std::vector<StmtPtr> body, const std::string& message) {
  EXPECT_THAT([&] { launch.run(std::move(body)); },
              testing::ThrowsMessage<InterpreterError>(testing::HasSubstr(message)));
}

TEST(Threads, SeeAfterABarrierWhatOthersWroteBefore) {
  Launch l;
  const Expr other = kThreads - 1 - l.t;
  EXPECT_THAT(l.run(list(l.store(l.shared, l.t, load(l.input, {l.t})), l.barrier(),
                         l.store(l.output, l.t, load(l.shared, {other})))),
              testing::ElementsAre(70, 60, 50, 40, 30, 20, 10, 0));
}

TEST(Threads, KeepWhatIsTheirOwnAcrossABarrier) {
  Launch l;
  const Expr other = kThreads - 1 - l.t;
  EXPECT_THAT(l.run(list(l.store(l.own, 0, load(l.input, {l.t})), l.store(l.shared, l.t, load(l.own, {0})),
                         l.barrier(), l.store(l.output, l.t, load(l.own, {0}) - load(l.shared, {other})))),
              testing::ElementsAre(-70, -50, -30, -10, 10, 30, 50, 70));
}

TEST(Threads, AReadOfWhatAnotherWroteWithoutABarrierIsARace) {
  Launch l;
  const Expr other = kThreads - 1 - l.t;
  expect_mistake(
      l, list(l.store(l.shared, l.t, load(l.input, {l.t})), l.store(l.output, l.t, load(l.shared, {other}))),
      "S");
}

TEST(Threads, AWriteOfWhatAnotherReadsIsARace) {
  Launch l;
  const Expr other = kThreads - 1 - l.t;
  expect_mistake(
      l,
      list(l.store(l.shared, l.t, load(l.input, {l.t})), l.barrier(),
           l.store(l.output, l.t, load(l.shared, {other})), l.store(l.shared, l.t, load(l.input, {l.t}))),
      "race:");
}

TEST(Threads, TwoThatWriteOneElementRace) {
  Launch l;
  expect_mistake(l,
                 list(l.store(l.shared, floordiv(l.t, 2), load(l.input, {l.t})), l.barrier(),
                      l.store(l.output, l.t, load(l.shared, {0}))),
                 "race: iteration 0 and iteration 1 of a parallel loop write S[0]");
}

TEST(Threads, ABarrierUnderAConditionThatDiffersIsDivergent) {
  Launch l;
  expect_mistake(l,
                 list(l.store(l.output, l.t, load(l.input, {l.t})),
                      std::make_unique<If>(lt(l.t, 3), std::make_unique<Seq>(list(l.barrier())))),
                 "divergent barrier: not all threads reach it");
}

TEST(Threads, ABarrierInALoopThatEndsEarlierForSomeIsDivergent) {
  Launch l;
  auto loop = l.program.make_loop(Var("i"), 4, std::make_unique<Seq>(list(l.barrier())));
  loop->extent = min(l.t + 1, 4);
  expect_mistake(l, list(l.store(l.output, l.t, load(l.input, {l.t})), StmtPtr(std::move(loop))),
                 "divergent barrier: threads iterate its loop unequally often");
}

TEST(Threads, GoRoundALoopTogether) {
  Launch l;
  // Each thread passes its number to its neighbour, three times.
  const Expr next = floormod(l.t + 1, kThreads);
  auto turn = l.program.make_loop(
      Var("i"), 3,
      std::make_unique<Seq>(list(l.store(l.shared, l.t, load(l.own, {0})), l.barrier(),
                                 l.store(l.own, 0, load(l.shared, {next})), l.barrier())));
  EXPECT_THAT(l.run(list(l.store(l.own, 0, load(l.input, {l.t})), StmtPtr(std::move(turn)),
                         l.store(l.output, l.t, load(l.own, {0})))),
              testing::ElementsAre(30, 40, 50, 60, 70, 0, 10, 20));
}

/// for g bind(squad.x) { alloc H of a squad; for t bind(thread.x) { `pieces` with barriers between } }
struct SquadLaunch {
  SquadLaunch() {
    program.name = "squads";
    program.inputs = {input};
    program.outputs = {output};
  }

  StmtPtr together(Var var, StmtPtr body) {
    auto call = program.make_loop(var, kMembers, std::move(body));
    call->annotations[kTogetherAlong] = "thread.x";
    return call;
  }

  void run(std::vector<StmtPtr> pieces) {
    auto members = program.make_loop(t, kMembers, std::make_unique<Seq>(std::move(pieces)));
    members->loop_kind = LoopKind::Bound;
    members->thread = "thread.x";
    auto squads = program.make_loop(g, 2, std::make_unique<Allocate>(held, std::move(members)));
    squads->loop_kind = LoopKind::Bound;
    squads->thread = "squad.x";
    program.root().append(std::move(squads));
    arguments = {Tensor::like(*input), Tensor::like(*output)};
    for (int64_t i = 0; i < 2 * kMembers; ++i) arguments[0].set(i, static_cast<double>(10 * i));
    interpret(program, arguments);
  }

  static constexpr int64_t kMembers = 4;
  Program program;
  Buffer input = make_buffer("X", kF32, {2 * kMembers});
  Buffer output = make_buffer("O", kF32, {2 * kMembers});
  Buffer held = make_buffer("H", kF32, {kMembers}, "tile");
  Var g{"g"};
  Var t{"t"};
  std::vector<Tensor> arguments;
};

StmtPtr stored(const Buffer& to, const Expr& at, const Expr& value) {
  return std::make_unique<Store>(to, std::vector<Expr>{at}, value);
}

TEST(Threads, MembersOfAGroupShareWhatItHolds) {
  SquadLaunch launch;
  const Expr own = launch.g * SquadLaunch::kMembers;
  const Var e("e");
  launch.run(
      list(launch.together(e, stored(launch.held, e, load(launch.input, {own + e}))),
           std::make_unique<Barrier>("squad"),
           stored(launch.output, own + launch.t, load(launch.held, {SquadLaunch::kMembers - 1 - launch.t}))));
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(launch.arguments[1].get(i), static_cast<double>(10 * (i / 4 * 4 + 3 - i % 4)));
}

TEST(Threads, MembersOfAGroupRaceForWhatItHolds) {
  SquadLaunch launch;
  const Expr own = launch.g * SquadLaunch::kMembers;
  EXPECT_THAT(
      [&] {
        launch.run(
            list(stored(launch.held, launch.t, load(launch.input, {own + launch.t})),
                 std::make_unique<Barrier>("squad"),
                 stored(launch.held, launch.t, load(launch.held, {SquadLaunch::kMembers - 1 - launch.t}))));
      },
      testing::ThrowsMessage<InterpreterError>(testing::HasSubstr("race")));
}

/// In each step the last thread fills `shared`, and the others add its elements.
std::vector<StmtPtr> handed_over(Launch& l, int64_t steps) {
  const Var s("s");
  const Var e("e");
  StmtPtr fill =
      l.program.make_loop(e, kThreads, l.store(l.shared, e, load(l.input, {floormod(s + e, kThreads)})));
  StmtPtr add = l.store(l.own, 0, load(l.own, {0}) + load(l.shared, {l.t}));
  StmtPtr handover =
      std::make_unique<Handover>("thread.x", 1, std::make_unique<If>(eq(l.t, kThreads - 1), std::move(fill)),
                                 std::make_unique<If>(lt(l.t, kThreads - 1), std::move(add)));
  return list(l.store(l.own, 0, float_imm(0, kF32)), l.program.make_loop(s, steps, std::move(handover)),
              l.store(l.output, l.t, load(l.own, {0})));
}

TEST(Threads, ConsumeInAHandoverWhatOneProduced) {
  Launch l;
  EXPECT_THAT(l.run(handed_over(l, 2)), testing::ElementsAre(10, 30, 50, 70, 90, 110, 130, 0));
}

TEST(Threads, RaceInAHandoverForWhatTheyConsume) {
  Launch l;
  std::vector<StmtPtr> body = handed_over(l, 1);
  Stmt* consume = handover_of(*body[1]->as<Loop>())->consume();
  consume->as<If>()->set_then(l.store(l.shared, 0, float_imm(1, kF32)));
  expect_mistake(l, std::move(body), "race");
}

TEST(Threads, AHandoverThatNoLoopIsBoundForIsAMistake) {
  Launch l;
  const auto side = [&] { return l.store(l.own, 0, float_imm(0, kF32)); };
  expect_mistake(l, list(std::make_unique<Handover>("block.x", 1, side(), side())),
                 "no loop around it is bound for");
}

TEST(Threads, ABarrierThatNoLoopIsBoundForIsAMistake) {
  Launch l;
  l.program.root().append(l.barrier());
  expect_mistake(l, list(l.store(l.output, l.t, load(l.input, {l.t}))),
                 "a barrier that no loop around it is bound for");
}

}  // namespace
}  // namespace tunesmith
