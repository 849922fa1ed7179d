// Tasks name the versions of lowering and of code generators: if programs change, the version must change.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extended.h"
#include "golden/corpus.h"
#include "golden/drawn_programs.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/support/hash.h"

namespace tunesmith::golden {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kCorpusFile = TUNESMITH_SOURCE_DIR "/tests/golden/corpus.txt";
constexpr const char* kRewrite = "write the corpus anew: TUNESMITH_WRITE_GOLDEN=1 build/release/bin/golden";
/// Generated CUDA C++ includes it.
constexpr const char* kDeviceHeader = "targets/cuda/device/tunesmith_device.cuh";
/// The suite draws one of this many programs.
constexpr int kShare = 7;
/// Spaces that differ from the space cpu only in their search.
const std::set<std::string> kSearchOnly{"cpu-random", "cpu-xgboost", "cpu-ensemble"};

bool writes() { return std::getenv("TUNESMITH_WRITE_GOLDEN") != nullptr; }

std::string hash_of_file(const std::string& name) {
  std::ifstream in(fmt::format("{}/{}", TUNESMITH_SOURCE_DIR, name));
  return hex64(hash_bytes(std::string(std::istreambuf_iterator<char>(in), {})));
}

TEST(Golden, ProgramsAreWhatTheirVersionsSay) {
  const bool all = writes() || test::is_extended();
  Corpus now;
  PluginRegistry registry;
  std::vector<std::string> lacking;
  int count = 0;
  for (const Machine& machine : machines()) {
    const auto is_wanted = [&] { return count++ % kShare == 0 || all; };
    if (const std::string why = draw(machine, registry, is_wanted, now); !why.empty()) lacking.push_back(why);
  }
  now.texts[kDeviceHeader] = hash_of_file(kDeviceHeader);
  const Corpus held = Corpus::read(kCorpusFile);
  const Differences differences = compare(held, now);
  for (const std::string& one : differences.versions) ADD_FAILURE() << one << "; then " << kRewrite;
  if (writes()) {
    ASSERT_THAT(lacking, IsEmpty()) << "the corpus is of all built-in spaces";
    if (differences.versions.empty()) now.write(kCorpusFile);
    return;
  }
  for (const std::string& one : differences.others) ADD_FAILURE() << one << "; " << kRewrite;
  EXPECT_GE(now.programs.size(), all && lacking.empty() ? held.programs.size() : 1U) << kRewrite;
  for (const std::string& why : lacking) GTEST_SKIP() << why;
}

TEST(Golden, CorpusHasSomeProgramsOfEverySpace) {
  EXPECT_GE(Corpus::read(kCorpusFile).programs.size(), 280U);
  const SpacesFile spaces = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
  std::set<std::string> here = kSearchOnly;
  for (const Machine& machine : machines()) here.insert(machine.space);
  for (const std::string& name : spaces.names()) EXPECT_TRUE(here.contains(name)) << name;
  const auto modules = [&](const std::string& name) {
    std::vector<std::string> ids;
    for (const PluginUse& module : spaces.space(name).modules) ids.push_back(module.id);
    return ids;
  };
  for (const std::string& name : kSearchOnly) EXPECT_EQ(modules(name), modules("cpu")) << name;
}

Corpus example() {
  Corpus corpus;
  corpus.lowering = "1";
  corpus.generators["t"] = {"1", "compiler-19", "generator.cpp"};
  corpus.programs["t s gmm 0"] = {"a", "b", "c"};
  return corpus;
}

TEST(Golden, WhatChangesWithoutItsVersionIsNamed) {
  Corpus now = example();
  EXPECT_THAT(compare(example(), now).versions, IsEmpty());
  EXPECT_THAT(compare(example(), now).others, IsEmpty());
  now.programs["t s gmm 0"] = {"a", "b2", "c2"};
  EXPECT_THAT(compare(example(), now).versions, ElementsAre(HasSubstr("raise kLoweringVersion")));
  now.programs["t s gmm 0"] = {"a", "b", "c2"};
  EXPECT_THAT(compare(example(), now).versions,
              ElementsAre(HasSubstr("raise kGeneratorVersion in generator.cpp")));
}

TEST(Golden, WhatHasItsVersionIsWrittenAnew) {
  Corpus now = example();
  now.lowering = "2";
  now.programs["t s gmm 0"] = {"a", "b2", "c2"};
  EXPECT_THAT(compare(example(), now).versions, IsEmpty());
  EXPECT_THAT(compare(example(), now).others, SizeIs(2));
  now = example();
  now.generators["t"].version = "2";
  now.programs["t s gmm 0"] = {"a", "b", "c2"};
  EXPECT_THAT(compare(example(), now).versions, IsEmpty());
  EXPECT_THAT(compare(example(), now).others, SizeIs(2));
}

TEST(Golden, OtherDrawsAndOtherCompilersRaiseNothing) {
  Corpus now = example();
  now.programs["t s gmm 0"] = {"a2", "b2", "c2"};
  EXPECT_THAT(compare(example(), now).versions, IsEmpty());
  EXPECT_THAT(compare(example(), now).others, ElementsAre(HasSubstr("draws another program")));
  now = example();
  now.generators["t"].libraries = "compiler-20";
  now.programs["t s gmm 0"] = {"a", "b", "c2"};
  EXPECT_THAT(compare(example(), now).versions, IsEmpty());
  EXPECT_THAT(compare(example(), now).others, IsEmpty());
  now.programs["t s gmm 0"] = {"a", "b2", "c2"};
  EXPECT_THAT(compare(example(), now).versions, SizeIs(1)) << "lowering is the same with any compiler";
}

}  // namespace
}  // namespace tunesmith::golden
