// Stores that arrive as late as possible.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith {
namespace {

constexpr int64_t kCopiers = 4;

struct AsyncLaunch {
  AsyncLaunch() {
    program.name = "launch";
    program.inputs = {input};
    program.outputs = {output};
  }

  StmtPtr store(const Buffer& to, const Expr& at, const Expr& value) const {
    return std::make_unique<Store>(to, std::vector<Expr>{at}, value);
  }
  StmtPtr fetch(const Expr& at) const {
    return std::make_unique<AsyncGroup>(store(shared, at, load(input, {at})));
  }
  StmtPtr wait(int64_t pending) const { return std::make_unique<AsyncWait>(pending); }
  StmtPtr barrier() const { return std::make_unique<Barrier>("thread"); }

  template <typename... Stmts>
  std::vector<double> run(Stmts... stmts) {
    std::vector<StmtPtr> body;
    (body.push_back(std::move(stmts)), ...);
    auto threads = program.make_loop(t, kCopiers, std::make_unique<Seq>(std::move(body)));
    threads->loop_kind = LoopKind::Bound;
    threads->thread = "thread.x";
    program.root().append(std::make_unique<Allocate>(shared, std::move(threads)));
    std::vector<Tensor> arguments{Tensor::like(*input), Tensor::like(*output)};
    for (int64_t i = 0; i < 2 * kCopiers; ++i) arguments[0].set(i, static_cast<double>(10 * i));
    interpret(program, arguments);
    std::vector<double> result;
    for (int64_t i = 0; i < kCopiers; ++i) result.push_back(arguments[1].get(i));
    return result;
  }

  template <typename... Stmts>
  void expect_mistake(const std::string& message, Stmts... stmts) {
    EXPECT_THAT([&] { run(std::move(stmts)...); },
                testing::ThrowsMessage<InterpreterError>(testing::HasSubstr(message)));
  }

  Program program;
  Buffer input = make_buffer("X", kF32, {2 * kCopiers});
  Buffer output = make_buffer("O", kF32, {kCopiers});
  Buffer shared = make_buffer("S", kF32, {2 * kCopiers}, "shared");
  Var t{"t"};
};

TEST(AsyncStores, AreSeenByOthersAfterAWaitAndABarrier) {
  AsyncLaunch l;
  const Expr other = kCopiers - 1 - l.t;
  EXPECT_THAT(l.run(l.fetch(l.t), l.wait(0), l.barrier(), l.store(l.output, l.t, load(l.shared, {other}))),
              testing::ElementsAre(30, 20, 10, 0));
}

TEST(AsyncStores, AreSeenByTheThreadItselfAfterAWait) {
  AsyncLaunch l;
  EXPECT_THAT(l.run(l.fetch(l.t), l.wait(0), l.store(l.output, l.t, load(l.shared, {l.t}))),
              testing::ElementsAre(0, 10, 20, 30));
  AsyncLaunch early;
  early.expect_mistake("before the store to it is waited for", early.fetch(early.t),
                       early.store(early.output, early.t, load(early.shared, {early.t})), early.wait(0));
}

TEST(AsyncStores, WithoutABarrierAreARace) {
  AsyncLaunch l;
  const Expr other = kCopiers - 1 - l.t;
  l.expect_mistake("read before anything was written", l.fetch(l.t), l.wait(0),
                   l.store(l.output, l.t, load(l.shared, {other})));
  AsyncLaunch turned;
  const Expr turned_other = kCopiers - 1 - turned.t;
  turned.expect_mistake("before the store to it is waited for", turned.fetch(turned.t), turned.barrier(),
                        turned.store(turned.output, turned.t, load(turned.shared, {turned_other})),
                        turned.wait(0));
}

TEST(AsyncStores, AWaitLeavesTheLatestGroups) {
  AsyncLaunch l;
  EXPECT_THAT(l.run(l.fetch(l.t), l.fetch(l.t + kCopiers), l.wait(1),
                    l.store(l.output, l.t, load(l.shared, {l.t})), l.wait(0)),
              testing::ElementsAre(0, 10, 20, 30));
  AsyncLaunch latest;
  latest.expect_mistake("before the store to it is waited for", latest.fetch(latest.t),
                        latest.fetch(latest.t + kCopiers), latest.wait(1),
                        latest.store(latest.output, latest.t, load(latest.shared, {latest.t + kCopiers})),
                        latest.wait(0));
}

TEST(AsyncStores, UnderWayNobodyWritesThere) {
  AsyncLaunch l;
  l.expect_mistake("while an asynchronous store to it is under way", l.fetch(l.t),
                   l.store(l.shared, l.t, load(l.input, {l.t})), l.wait(0));
}

TEST(AsyncStores, AreWaitedForWhileTheirMemoryIsThere) {
  AsyncLaunch l;
  l.expect_mistake("is never waited for", l.fetch(l.t), l.store(l.output, l.t, load(l.input, {l.t})));
}

}  // namespace
}  // namespace tunesmith
