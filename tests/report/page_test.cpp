#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tunesmith::report {
namespace {
using testing::HasSubstr;
using testing::Not;

size_t count(const std::string& text, const std::string& what) {
  size_t found = 0;
  for (size_t place = text.find(what); place != std::string::npos; place = text.find(what, place + 1))
    ++found;
  return found;
}

// Texts of compilers and of workloads' files may contain anything, and the page is opened in a browser.
TEST(Page, TextInTheDataEndsNoElement) {
  const std::string hostile = "</script><script>alert(1)</script><!-- {{library}} {{no such part}}";
  const std::string text = page({{"message", hostile}}, false);
  EXPECT_EQ(count(text, "</script>"), 2u) << "of the data and of the page's own script";
  EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
  const size_t begin = text.find("id=\"data\">") + 10;
  const auto data = nlohmann::json::parse(text.substr(begin, text.find("</script>", begin) - begin));
  EXPECT_EQ(data.at("message"), hostile) << "and it is read as it was";
}

TEST(Page, WithoutTheLibraryItHasNone) {
  EXPECT_THAT(page(nlohmann::json::object(), false), Not(HasSubstr("Chart.js Contributors")));
}

TEST(Page, TheLibraryComesWithItsLicence) {
  if (!draws_charts()) GTEST_SKIP() << "built without Chart.js";
  const std::string text = page(nlohmann::json::object());
  EXPECT_THAT(text, HasSubstr("Chart.js Contributors"));
  EXPECT_THAT(text, HasSubstr("Permission is hereby granted, free of charge"));
  EXPECT_EQ(count(text, "</script>"), 3u);
}

}  // namespace
}  // namespace tunesmith::report
