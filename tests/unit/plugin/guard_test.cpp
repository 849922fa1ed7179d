#include "tunesmith/plugin/guard.h"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/plugin/error.h>

namespace tunesmith {
namespace {

using testing::ThrowsMessage;

template <typename Function>
decltype(auto) guarded(Function&& function) {
  return guard_plugin(PluginKind::Module, "tiler", "apply", std::forward<Function>(function));
}

TEST(PluginGuard, PassesResultsThrough) {
  int value = 3;
  EXPECT_EQ(guarded([&] { return value + 1; }), 4);
  guarded([&]() -> int& { return value; }) = 7;
  EXPECT_EQ(value, 7);
}

TEST(PluginGuard, AnyExceptionBecomesThePluginsFault) {
  EXPECT_THAT([] { guarded([] { throw std::out_of_range("index 9"); }); },
              ThrowsMessage<PluginError>("module 'tiler': [P12] apply threw: index 9"));
  EXPECT_THAT([] { guarded([] { throw InternalError("broken"); }); },
              ThrowsMessage<PluginError>("module 'tiler': [P12] apply threw: broken"));
  EXPECT_THAT([] { guarded([] { throw "text"; }); },
              ThrowsMessage<PluginError>("module 'tiler': [P12] apply threw something that is no exception"));
}

TEST(PluginGuard, WhatAPluginMaySayIsKept) {
  EXPECT_THAT([] { guarded([] { throw UserError(SourceLocation{"s.yaml", 2, 3}, "too many"); }); },
              ThrowsMessage<UserError>("s.yaml:2:3: module 'tiler': apply: too many"));
  EXPECT_THAT([] { guarded([] { throw UserError("option 'n' of module 'tiler': too many"); }); },
              ThrowsMessage<UserError>("option 'n' of module 'tiler': too many"));
  EXPECT_THAT([] { guarded([] { throw EnvironmentError("no compiler here"); }); },
              ThrowsMessage<PluginError>("module 'tiler': no compiler here"));
}

}  // namespace
}  // namespace tunesmith
