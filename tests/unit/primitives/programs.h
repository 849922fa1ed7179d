// Small hand-written programs, and checks of schedules for the tests of this folder.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/program.h>
#include <tunesmith/trace/schedule.h>

#include "unit/ir/make_gmm.h"

namespace tunesmith::test {

/// B = exp(A), C = B + 1, elementwise over n x m: blocks "B" and "C", each under its own loops i, j.
inline Program make_chain(int64_t n, int64_t m) {
  Program program;
  program.name = "chain";
  const Buffer a = make_buffer("A", kF32, {n, m});
  const Buffer b = make_buffer("B", kF32, {n, m});
  const Buffer c = make_buffer("C", kF32, {n, m});
  program.inputs = {a};
  program.intermediates = {b};
  program.outputs = {c};
  const auto stage = [&](const std::string& name, const Buffer& from, const Buffer& to, auto value) {
    const Var i("i"), j("j"), vi("vi"), vj("vj");
    auto store = std::make_unique<Store>(to, std::vector<Expr>{vi, vj}, value(load(from, {vi, vj})));
    auto block = program.make_block(name, {{vi, n, IterKind::Spatial}, {vj, m, IterKind::Spatial}}, {i, j},
                                    nullptr, std::move(store));
    StmtPtr body = program.make_loop(j, m, std::move(block));
    program.root().append(program.make_loop(i, n, std::move(body)));
  };
  stage("B", a, b, [](const Expr& x) { return call(MathOp::Exp, {x}); });
  stage("C", b, c, [](const Expr& x) { return x + constant(1, kF32); });
  return program;
}

inline std::string text_of(const Schedule& schedule) { return to_string(schedule.program()); }

/// The text from its first loop on, without the head and the indentation of the root.
inline std::string body_of(const Schedule& schedule) {
  std::string body;
  const std::string whole = text_of(schedule);
  size_t begin = whole.find('\n') + 1;
  while (begin < whole.size()) {
    const size_t end = whole.find('\n', begin);
    const std::string line = whole.substr(begin + 2, end - begin - 2);
    if (line.rfind("intermediate", 0) != 0) body += line + "\n";
    begin = end + 1;
  }
  return body;
}

/// `call` is refused by `primitive` for `reason`, and changes neither program nor trace.
template <typename Call>
void expect_refused(Schedule& schedule, std::string_view primitive, std::string_view reason,
                    const Call& call) {
  const std::string before = text_of(schedule);
  const Trace trace = schedule.trace();
  try {
    call();
    ADD_FAILURE() << primitive << " was not refused";
  } catch (const ScheduleError& error) {
    EXPECT_EQ(error.primitive(), primitive);
    EXPECT_EQ(error.reason(), reason) << error.what();
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos);
  }
  EXPECT_EQ(text_of(schedule), before);
  EXPECT_EQ(schedule.trace(), trace);
}

/// The trace as text, parsed and replayed on `program`, gives the same trace and program text.
inline void expect_replays(const Program& program, const Schedule& schedule) {
  const std::string text = schedule.trace().str();
  const Trace parsed = Trace::parse(text);
  EXPECT_EQ(parsed, schedule.trace());
  EXPECT_EQ(parsed.str(), text);
  const auto again = replay(program, parsed);
  ASSERT_TRUE(again.has_value()) << again.error().what();
  EXPECT_EQ(text_of(*again), text_of(schedule));
  EXPECT_EQ(again->trace(), schedule.trace());
}

}  // namespace tunesmith::test
