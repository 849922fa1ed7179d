#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/support/error.h>
#include <tunesmith/workload/library.h>

#include "temporary_folder.h"

namespace tunesmith {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string load_error(const WorkloadLibrary& library, const std::string& text) {
  try {
    library.load(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(WorkloadLibrary, EveryBuiltInLoadsAtItsDefaultsUnderItsFilesName) {
  const WorkloadLibrary library;
  const std::vector<std::string> names = library.list();
  EXPECT_GE(names.size(), 20u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const WorkloadDefinition definition = library.definition(name);
    EXPECT_EQ(definition.name(), name);
    EXPECT_FALSE(definition.description().empty());
    const Workload workload = definition.instantiate();
    EXPECT_GT(workload.flops, 0.0);
    EXPECT_GT(workload.bytes_min, 0.0);
    // The key is a text that loads, and gives the same workload.
    const Workload again = library.load(workload.key);
    EXPECT_EQ(again.key, workload.key);
    EXPECT_EQ(again.hash, workload.hash);
  }
}

TEST(WorkloadLibrary, EveryBuiltInLoadsAtSmallAndRaggedShapes) {
  const WorkloadLibrary library;
  for (const std::string& name : library.list()) {
    const WorkloadDefinition definition = library.definition(name);
    for (const char* size : {"7", "13"}) {
      std::vector<ParamText> given;
      for (const WorkloadParam& param : definition.params()) {
        const std::set<std::string> extents = {"n", "m",  "k",  "h",   "w",     "l",  "d",
                                               "c", "ci", "co", "seq", "heads", "dim"};
        if (extents.contains(param.name)) given.emplace_back(param.name, size);
      }
      EXPECT_FALSE(given.empty()) << name;
      EXPECT_FALSE(definition.instantiate(given).program.blocks().empty()) << name;
    }
  }
}

TEST(WorkloadLibrary, EveryShapeOfTheSuiteLoadsUnderAKeyOfItsOwn) {
  const WorkloadLibrary library;
  std::set<std::string> ids;
  std::set<std::string> keys;
  size_t shapes = 0;
  for (const WorkloadSuite& suite : library.suites()) {
    EXPECT_TRUE(ids.insert(suite.id).second) << suite.id;
    for (const std::string& text : suite.workloads) {
      keys.insert(library.load(text).key);
      ++shapes;
    }
  }
  for (const char* id :
       {"C1D", "C2D", "C3D", "DEP", "DIL", "GMM", "GRP", "T2D", "CAP", "NRM", "SFM", "CBR", "TBG"}) {
    EXPECT_TRUE(ids.contains(id)) << id;
  }
  EXPECT_EQ(keys.size(), shapes);
}

class SuiteFile : public testing::Test {
 protected:
  std::string write(const std::string& text) const {
    std::ofstream(path_) << text;
    return path_;
  }
  const test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "suite.yaml";
};

TEST_F(SuiteFile, ListsWorkloadsAndTheirWeights) {
  const std::string path = write("A:\n  - gmm:n=4,m=4,k=4\n  - conv2d:h=8,w=8: 3\nB: [relu, softmax: 0.5]\n");
  EXPECT_TRUE(is_suite_file(path));
  const std::vector<WorkloadSuite> suites = read_suite_file(path);
  ASSERT_EQ(suites.size(), 2u);
  EXPECT_EQ(suites[0].workloads, (std::vector<std::string>{"gmm:n=4,m=4,k=4", "conv2d:h=8,w=8"}));
  EXPECT_EQ(suites[0].weights, (std::vector<double>{1.0, 3.0}));
  EXPECT_EQ(suites[1].weights, (std::vector<double>{1.0, 0.5}));
}

TEST_F(SuiteFile, AWorkloadIsNone) {
  EXPECT_FALSE(is_suite_file(write("name: x\nparams: {n: 1}\noutputs: [O]\n")));
  EXPECT_FALSE(is_suite_file("nowhere.yaml"));
  EXPECT_FALSE(is_suite_file("gmm:n=4"));
}

TEST_F(SuiteFile, BadWeightsAreRefusedAtTheirPlace) {
  for (const char* weight : {"0", "-1", "x", "1x", "inf", "[]"}) {
    const std::string path = write(std::string("A:\n  - relu: ") + weight + "\n");
    EXPECT_THAT([&] { read_suite_file(path); },
                testing::ThrowsMessage<UserError>(HasSubstr(path + ":2:11: a workload's weight")))
        << weight;
  }
  const std::string nested = write("A:\n  - [relu]\n");
  EXPECT_THAT([&] { read_suite_file(nested); },
              testing::ThrowsMessage<UserError>(HasSubstr(":2:5: expected")));
  const std::string empty = write("A: []\n");
  EXPECT_THAT([&] { read_suite_file(empty); },
              testing::ThrowsMessage<UserError>(HasSubstr("lists no workloads")));
}

TEST(WorkloadLibrary, TheSuiteHasThePapersShapes) {
  for (const WorkloadSuite& suite : WorkloadLibrary().suites()) {
    if (suite.id != "GRP") continue;
    ASSERT_EQ(suite.workloads.size(), 4u);
    EXPECT_EQ(suite.workloads[0], "conv2d:h=56,w=56,ci=64,co=128,kernel=3,stride=2,padding=1,groups=4");
  }
}

TEST(WorkloadLibrary, UnknownNamesMeetTheNearestKnown) {
  const WorkloadLibrary library;
  EXPECT_EQ(load_error(library, "gm"), "unknown workload 'gm'; did you mean 'gmm'?");
  EXPECT_THAT(load_error(library, "sotfmax:m=3"), HasSubstr("did you mean 'softmax'?"));
  EXPECT_EQ(load_error(library, "conv2d:strid=3"), "conv2d has no parameter 'strid'; did you mean 'stride'?");
  EXPECT_THAT(load_error(WorkloadLibrary({"/nonexistent"}), "gmm"),
              HasSubstr("no workloads in /nonexistent"));
}

TEST(WorkloadLibrary, BadParametersAreRefused) {
  const WorkloadLibrary library;
  EXPECT_EQ(load_error(library, "gmm:n=5x"), "expected an integer for parameter 'n' of gmm, found '5x'");
  EXPECT_EQ(load_error(library, "gmm:n=99999999999999999999"),
            "parameter 'n' of gmm: 99999999999999999999 does not fit 64 bits");
  EXPECT_EQ(load_error(library, "gmm:dtype=f31"),
            "expected a data type for parameter 'dtype' of gmm, found 'f31'; did you mean 'f32'?");
  EXPECT_EQ(load_error(library, "gmm:n=f32"), "expected an integer for parameter 'n' of gmm, found 'f32'");
  EXPECT_EQ(load_error(library, "gmm:n=3,n=4"), "parameter 'n' of gmm is given twice");
  EXPECT_THAT(load_error(library, "gmm:n=0"),
              HasSubstr("gmm.yaml:5:18: the extent of dimension 2 of 'A' is 0 (n=0)"));
  EXPECT_THAT(load_error(library, "gmm:n=-3"), HasSubstr("is -3 (n=-3); expected 1 to 2^34"));
  EXPECT_THAT(load_error(library, "gmm:n=1099511627776"), HasSubstr("expected 1 to 2^34"));
  EXPECT_THAT(load_error(library, "gmm:n=262144,m=262144"), HasSubstr("at most 2^34 are accepted"));
  EXPECT_THAT(load_error(library, "conv2d:groups=3"),
              HasSubstr("conv2d requires ci % groups == 0; here ci=64, groups=3"));
  EXPECT_THAT(load_error(library, "conv2d:stride=0"), HasSubstr("division by zero"));
  EXPECT_THAT(load_error(library, "conv2d:kernel=99"), HasSubstr("conv2d.yaml"));
}

TEST(WorkloadLibrary, AUsersFileWorksLikeABuiltIn) {
  const test::TemporaryFolder folder;
  const auto path = folder / "mine.yaml";
  std::ofstream(path) << "name: mine\nparams: {n: 4}\ninputs: {X: {shape: [n], dtype: f32}}\n"
                         "compute: O[i<n] = X[i] * 2\noutputs: [O]\n";
  const Workload by_path = WorkloadLibrary().load(path.string() + ":n=3");
  EXPECT_EQ(by_path.key, "mine:n=3");
  const WorkloadLibrary with_folder({folder.path(), builtin_workload_folder()});
  EXPECT_EQ(with_folder.load("mine:n=3").hash, by_path.hash);
  EXPECT_EQ(with_folder.load("gmm").name, "gmm");
  EXPECT_THAT(load_error(WorkloadLibrary(), "/nonexistent/x.yaml"),
              HasSubstr("/nonexistent/x.yaml: cannot be read"));
}

TEST(WorkloadText, SplitsIntoNameAndParameters) {
  using Params = std::vector<ParamText>;
  EXPECT_EQ(parse_workload_text("gmm"), std::make_pair(std::string("gmm"), Params{}));
  EXPECT_EQ(parse_workload_text("gmm:"), std::make_pair(std::string("gmm"), Params{}));
  EXPECT_EQ(parse_workload_text(" gmm : n = 3 , dtype=f32 "),
            std::make_pair(std::string("gmm"), Params{{"n", "3"}, {"dtype", "f32"}}));
  EXPECT_EQ(parse_workload_text("a:b/x.yaml:n=3"),
            std::make_pair(std::string("a:b/x.yaml"), Params{{"n", "3"}}));
}

TEST(WorkloadText, BadSyntaxIsRefused) {
  EXPECT_THROW(parse_workload_text(""), UserError);
  EXPECT_THROW(parse_workload_text(":n=3"), UserError);
  EXPECT_THROW(parse_workload_text("gmm:n"), UserError);
  EXPECT_THROW(parse_workload_text("gmm:n="), UserError);
  EXPECT_THROW(parse_workload_text("gmm:=3"), UserError);
  EXPECT_THROW(parse_workload_text("gmm:n=3,"), UserError);
  EXPECT_THROW(parse_workload_text("gmm:n=3,,m=4"), UserError);
}

TEST(WorkloadKey, ListsEveryParameterButDerivedDefaults) {
  const WorkloadLibrary library;
  EXPECT_EQ(library.load("gmm:k=5,n=3").key, "gmm:b=1,n=3,m=128,k=5,dtype=f32,constant_b=0");
  EXPECT_EQ(library.load("gmm:acc=f32,b_dtype=f32").key, library.load("gmm").key);
  EXPECT_EQ(library.load("gmm:dtype=u8,b_dtype=i8").key,
            "gmm:b=1,n=128,m=128,k=128,dtype=u8,b_dtype=i8,constant_b=0");
  EXPECT_EQ(library.load("gmm:dtype=bf16,acc=bf16").key,
            "gmm:b=1,n=128,m=128,k=128,dtype=bf16,acc=bf16,constant_b=0");
}

TEST(WorkloadHash, DependsOnWhatIsComputedNotOnTheText) {
  const WorkloadLibrary library;
  EXPECT_EQ(library.load("gmm:n=128").hash, library.load("gmm").hash);
  std::set<uint64_t> hashes;
  for (const char* text : {"gmm", "gmm:n=3", "gmm:dtype=f64", "gmm:constant_b=1", "gmm:n=3,dtype=bf16"}) {
    hashes.insert(library.load(text).hash);
  }
  EXPECT_EQ(hashes.size(), 5u);
}

TEST(WorkloadCost, CountsNominalArithmeticAndLeastTraffic) {
  const WorkloadLibrary library;
  const Workload gmm = library.load("gmm:b=2,n=3,m=5,k=7");
  EXPECT_EQ(gmm.flops, 2.0 * 2 * 3 * 5 * 7);
  EXPECT_EQ(gmm.bytes_min, 4.0 * 2 * (3 * 7 + 7 * 5 + 3 * 5));
  EXPECT_EQ(library.load("gmm:n=3,m=5,k=7,dtype=bf16").flops, 2.0 * 3 * 5 * 7);
  EXPECT_EQ(library.load("gmm:n=3,m=5,k=7,dtype=bf16").bytes_min, 2.0 * (3 * 7 + 7 * 5) + 4.0 * 3 * 5);
  // Padding compares indices only.
  EXPECT_EQ(library.load("conv2d:h=8,w=9,ci=4,co=6,kernel=3,padding=1").flops, 2.0 * 8 * 9 * 6 * 3 * 3 * 4);
  // Maximum, subtraction, exp, sum, division.
  EXPECT_EQ(library.load("softmax:m=3,n=5").flops, 5.0 * 3 * 5);
  // Only taps that meet an input element count.
  EXPECT_EQ(library.load("transposed_conv2d:h=4,w=4,ci=8,co=6").flops, 2.0 * 8 * 8 * 6 * 2 * 2 * 8);
}

}  // namespace
}  // namespace tunesmith
