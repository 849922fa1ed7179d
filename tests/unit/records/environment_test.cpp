#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/records/environment.h>
#include <tunesmith/support/error.h>
#include <tunesmith/support/thread_pool.h>

#include "temporary_folder.h"

namespace tunesmith {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

/// A root folder with a test's own proc, sys and etc.
class EnvironmentTest : public testing::Test {
 protected:
  EnvironmentTest() {
    write("proc/cpuinfo",
          "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Xeon "
          "Test\n"
          "stepping\t: 8\nmicrocode\t: 0x2b\nflags\t\t: sse2 avx2 fma avx2\n\n"
          "processor\t: 1\nmodel name\t: Another\nflags\t\t: sse2\n");
    write("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    write("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    write("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
    write("sys/devices/system/cpu/cpu0/cache/index1/level", "2\n");
    write("sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n");
    write("sys/devices/system/cpu/cpu0/cache/index1/size", "2048K\n");
    write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    write("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  Environment detect(const std::map<std::string, std::string>& plugins = {{"llvm", "0.1.0"}}) const {
    return detect_environment(plugins, root_);
  }

  const test::TemporaryFolder folder_;
  const fs::path root_ = folder_ / "root";
};

TEST_F(EnvironmentTest, ReadsTheFirstProcessorCachesAndGovernor) {
  const Environment e = detect();
  EXPECT_EQ(e.cpu_model, "Xeon Test");
  EXPECT_EQ(e.cpu_identity, "GenuineIntel 6 143 8");
  EXPECT_THAT(e.cpu_flags, ElementsAre("avx2", "fma", "sse2"));
  EXPECT_THAT(e.caches, ElementsAre("L1d 48K", "L2 2048K"));
  EXPECT_EQ(e.governor, "performance");
  EXPECT_EQ(e.microcode, "0x2b");
  EXPECT_EQ(e.processors, static_cast<int>(available_processors()));
  EXPECT_EQ(e.plugins.at("llvm"), "0.1.0");
}

TEST_F(EnvironmentTest, ReadsArmProcessors) {
  write("proc/cpuinfo",
        "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU "
        "variant\t: 0x0\n"
        "CPU part\t: 0xd40\nCPU revision\t: 1\n");
  const Environment e = detect();
  EXPECT_EQ(e.cpu_identity, "0x41 0xd40 0x0 1");
  EXPECT_THAT(e.cpu_flags, ElementsAre("asimd", "fp", "sve"));
}

TEST_F(EnvironmentTest, TextParsesBackToAnEqualEnvironment) {
  const Environment e = detect();
  const Environment back = Environment::parse(e.text());
  EXPECT_EQ(back, e);
  EXPECT_EQ(back.hash(), e.hash());
  EXPECT_EQ(e.text().find('\n'), std::string::npos);
}

TEST_F(EnvironmentTest, HardwareTellsMachinesApartAndSoftwareDoesNot) {
  const Environment here = detect();
  const Environment updated = detect({{"llvm", "0.2.0"}});
  EXPECT_EQ(updated.machine(), here.machine());
  EXPECT_NE(updated.hash(), here.hash());

  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  EXPECT_NE(detect().machine(), here.machine());
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  EXPECT_EQ(detect().machine(), here.machine());
  write("etc/machine-id", "ffffffffffffffffffffffffffffffff\n");
  EXPECT_NE(detect().machine(), here.machine());
}

TEST_F(EnvironmentTest, TheMachineIdItselfIsNotTold) {
  EXPECT_EQ(detect().text().find("0123456789abcdef0123456789abcdef"), std::string::npos);
  EXPECT_EQ(detect().machine_name.size(), 16u);
}

TEST_F(EnvironmentTest, MissingFilesLeaveFactsEmpty) {
  fs::remove_all(root_);
  const Environment e = detect();
  EXPECT_EQ(e.cpu_model, "");
  EXPECT_EQ(e.machine_name, "");
  EXPECT_THAT(e.caches, ElementsAre());
  EXPECT_GE(e.processors, 1);
  EXPECT_EQ(Environment::parse(e.text()), e);
}

TEST_F(EnvironmentTest, BytesThatAreNotTextDoNotBreakTheText) {
  write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Xeon \xff\xfe\n");
  EXPECT_THAT(detect().text(), HasSubstr("Xeon "));
  EXPECT_NO_THROW(Environment::parse(detect().text()));
}

TEST_F(EnvironmentTest, RefusesWhatIsNotAnEnvironment) {
  const std::string good = detect().text();
  EXPECT_THROW(Environment::parse("{}"), UserError);
  EXPECT_THROW(Environment::parse("[1]"), UserError);
  EXPECT_THROW(
      Environment::parse("{\"caches\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}"),
      UserError);
  EXPECT_THROW(Environment::parse(good.substr(0, good.size() / 2)), UserError);
  EXPECT_THROW(Environment::parse("{\"zzz\":1," + good.substr(1)), UserError);
}

TEST(Environment, ThisMachineIsTheSameTwice) {
  const Environment a = detect_environment({});
  const Environment b = detect_environment({});
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a.architecture.empty());
  EXPECT_FALSE(a.kernel.empty());
  EXPECT_FALSE(a.version.empty());
}

}  // namespace
}  // namespace tunesmith
