#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/plugin/options.h>

namespace tunesmith {
namespace {

using Shape = RawOption::Shape;

const std::vector<OptionSpec>& specs() {
  static const std::vector<OptionSpec> list = {
      OptionSpec::boolean("loud", false, "say more"),
      OptionSpec::integer("max_innermost", 64, 1, 1024, "largest innermost tile"),
      OptionSpec::integer("seed", 0, "seed of the draws"),
      OptionSpec::real("share", 0.5, 0.0, 1.0, "share of the population"),
      OptionSpec::string("structure", "SSRSRS", "tile structure"),
      OptionSpec::choice("acceptance", "elitist", {"elitist", "annealed"}, "how a candidate is taken"),
      OptionSpec::integers("write_reuse", {1, 2}, 1, 8, "levels of write reuse"),
      OptionSpec::strings("tags", {}, {}, "words"),
  };
  return list;
}

RawOption scalar(const std::string& name, const std::string& text, bool quoted = false) {
  const SourceLocation value{"s.yaml", 4, 20};
  return {name, {"s.yaml", 4, 7}, Shape::Scalar, {{text, value, quoted}}, value};
}

RawOption list(const std::string& name, const std::vector<std::string>& texts) {
  RawOption raw{name, {"s.yaml", 4, 7}, Shape::List, {}, {"s.yaml", 4, 20}};
  for (const std::string& text : texts) {
    raw.values.push_back({text, {"s.yaml", 4, 21 + 3 * static_cast<int>(raw.values.size())}, false});
  }
  return raw;
}

Options validate(const std::vector<RawOption>& written) {
  return Options::validate(specs(), written, "module 'tiler'", {"s.yaml", 3, 5});
}

std::string error_of(const std::vector<RawOption>& written) {
  try {
    validate(written);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Options, UnwrittenOptionsHaveTheirDefaults) {
  const Options options = validate({});
  EXPECT_FALSE(options.get_bool("loud"));
  EXPECT_EQ(options.get_int("max_innermost"), 64);
  EXPECT_EQ(options.get_double("share"), 0.5);
  EXPECT_EQ(options.get_string("structure"), "SSRSRS");
  EXPECT_EQ(options.get_string("acceptance"), "elitist");
  EXPECT_THAT(options.get_ints("write_reuse"), testing::ElementsAre(1, 2));
  EXPECT_FALSE(options.is_set("structure"));
  EXPECT_EQ(options.location("structure").str(), "s.yaml:3:5");
}

TEST(Options, WrittenValuesAreReadByType) {
  const Options options =
      validate({scalar("loud", "true"), scalar("max_innermost", "16"), scalar("seed", "-9223372036854775808"),
                scalar("share", "1"), scalar("structure", "12", true), scalar("acceptance", "annealed"),
                list("write_reuse", {}), list("tags", {"a", "b"})});
  EXPECT_TRUE(options.get_bool("loud"));
  EXPECT_EQ(options.get_int("max_innermost"), 16);
  EXPECT_EQ(options.get_int("seed"), INT64_MIN);
  EXPECT_EQ(options.get_double("share"), 1.0);
  EXPECT_EQ(options.get_string("structure"), "12");
  EXPECT_THAT(options.get_ints("write_reuse"), testing::IsEmpty());
  EXPECT_THAT(options.get_strings("tags"), testing::ElementsAre("a", "b"));
  EXPECT_TRUE(options.is_set("structure"));
  EXPECT_EQ(options.location("structure").str(), "s.yaml:4:20");
}

TEST(Options, TextNamesEveryValueInTheOrderDeclared) {
  EXPECT_EQ(validate({scalar("share", "0.25")}).str(),
            "loud=false max_innermost=64 seed=0 share=0.25 structure=SSRSRS acceptance=elitist "
            "write_reuse=[1, 2] tags=[]");
}

TEST(Options, UnknownNameGivesTheNearestKnown) {
  EXPECT_EQ(error_of({scalar("max_inermost", "4")}),
            "s.yaml:4:7: module 'tiler' has no option 'max_inermost'; did you mean 'max_innermost'?");
}

TEST(Options, PluginWithoutOptionsSaysSo) {
  const std::vector<RawOption> written = {scalar("x", "1")};
  EXPECT_THAT([&] { Options::validate({}, written, "module 'plain'"); },
              testing::ThrowsMessage<UserError>(testing::HasSubstr("it has no options")));
}

TEST(Options, WrongTypeSaysWhatWasExpectedAndWhere) {
  EXPECT_EQ(error_of({scalar("max_innermost", "many")}),
            "s.yaml:4:20: option 'max_innermost' of module 'tiler': expected an integer from 1 to 1024, got "
            "'many'");
  EXPECT_THAT(error_of({scalar("max_innermost", "16", true)}), testing::HasSubstr("got the string '16'"));
  EXPECT_THAT(error_of({scalar("max_innermost", "1.5")}), testing::HasSubstr("an integer"));
  EXPECT_THAT(error_of({scalar("loud", "yes")}), testing::HasSubstr("expected true or false, got 'yes'"));
  EXPECT_THAT(error_of({scalar("share", "nan")}), testing::HasSubstr("a number from 0 to 1"));
  EXPECT_THAT(error_of({list("structure", {"S"})}), testing::HasSubstr("expected a string, got a list"));
  EXPECT_THAT(error_of({scalar("write_reuse", "1")}),
              testing::HasSubstr("expected a list of integers from 1 to 8, got '1'"));
  EXPECT_THAT(error_of({{"loud", {"s.yaml", 4, 7}, Shape::Mapping, {}, {"s.yaml", 4, 20}}}),
              testing::HasSubstr("got a mapping"));
  EXPECT_THAT(error_of({{"loud", {"s.yaml", 4, 7}, Shape::Null, {}, {"s.yaml", 4, 20}}}),
              testing::HasSubstr("got nothing"));
}

TEST(Options, OutOfRangePointsAtTheValue) {
  EXPECT_THAT(error_of({scalar("max_innermost", "2048")}), testing::StartsWith("s.yaml:4:20: "));
  EXPECT_THAT(error_of({scalar("seed", "9223372036854775808")}), testing::HasSubstr("an integer, got"));
  EXPECT_EQ(error_of({list("write_reuse", {"1", "9"})}),
            "s.yaml:4:24: option 'write_reuse' of module 'tiler': expected a list of integers from 1 to 8, "
            "got '9'");
}

TEST(Options, UnknownChoiceGivesTheNearestKnown) {
  EXPECT_THAT(
      error_of({scalar("acceptance", "aneeled")}),
      testing::HasSubstr("expected one of: elitist, annealed, got 'aneeled'; did you mean 'annealed'?"));
}

TEST(Options, AnOptionGivenTwiceIsRefused) {
  EXPECT_THAT(error_of({scalar("loud", "true"), scalar("loud", "true")}),
              testing::HasSubstr("is given twice; first at s.yaml:4:20"));
}

TEST(Options, AskingForWhatWasNotDeclaredIsAProgrammingError) {
  const Options options = validate({});
  EXPECT_THROW(options.get_int("nothing"), InternalError);
  EXPECT_THROW(options.get_int("structure"), InternalError);
}

TEST(Options, APluginsOwnCheckFailsAtThePlaceOfTheOption) {
  const Options options = validate({scalar("structure", "SXR")});
  EXPECT_THAT([&] { options.fail("structure", "expected S and R only"); },
              testing::ThrowsMessage<UserError>(
                  "s.yaml:4:20: option 'structure' of module 'tiler': expected S and R only"));
}

TEST(OptionSpecs, BadDeclarationsAreNamed) {
  EXPECT_EQ(check_option_specs(specs()), "");
  const OptionSpec good = OptionSpec::boolean("loud", false, "say more");
  EXPECT_EQ(check_option_specs(std::vector{good, good}), "option 'loud' is declared twice");
  EXPECT_THAT(check_option_specs(std::vector{OptionSpec::integer("n", 0, 1, 4, "count")}),
              testing::HasSubstr("the default of option 'n' is 0, but it must be an integer from 1 to 4"));
  EXPECT_THAT(check_option_specs(std::vector{OptionSpec::choice("c", "x", {"a"}, "which")}),
              testing::HasSubstr("one of: a"));
  EXPECT_THAT(check_option_specs(std::vector{OptionSpec::boolean("b", true, "")}),
              testing::HasSubstr("help"));
}

}  // namespace
}  // namespace tunesmith
