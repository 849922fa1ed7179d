// The examples of docs/workload-language.md are valid workloads.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <tunesmith/workload/workload.h>

namespace tunesmith {
namespace {

std::vector<std::string> examples() {
  std::ifstream file(TUNESMITH_SOURCE_DIR "/docs/workload-language.md");
  std::vector<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      found.back() += line + "\n";
    } else if (line == "```yaml") {
      inside = true;
      found.emplace_back();
    }
  }
  return found;
}

TEST(WorkloadDocs, EveryExampleIsAWorkload) {
  const std::vector<std::string> all = examples();
  EXPECT_GE(all.size(), 5u);
  for (const std::string& text : all) {
    SCOPED_TRACE(text);
    EXPECT_GT(WorkloadDefinition::parse(text, "docs.yaml").instantiate().flops, 0.0);
  }
}

TEST(WorkloadDocs, TheKeyIsAsWritten) {
  const std::vector<std::string> all = examples();
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(WorkloadDefinition::parse(all[1], "docs.yaml").instantiate({{"n", "64"}}).key,
            "product:n=64,dtype=f32,constant_b=0");
}

}  // namespace
}  // namespace tunesmith
