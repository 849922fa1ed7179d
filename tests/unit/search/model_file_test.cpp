#include "tunesmith/search/model_file.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

class ModelFileTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) const {
    std::ofstream(folder_ / "written") << text;
    return folder_ / "written";
  }
  test::TemporaryFolder folder_;
};

const ModelFile kModel{"xgboost",
                       "0.2.0",
                       "cost_model xgboost max_depth=6",
                       {{"gmm:n=512,m=512", 2000, 9120}, {"my models/net.yaml:n=1", 3, 0}},
                       std::string("bytes\n\n\0 of its own", 18)};

TEST_F(ModelFileTest, IsReadAsItWasWritten) {
  write_model_file(folder_ / "model", kModel);
  const ModelFile read = read_model_file(folder_ / "model");
  EXPECT_EQ(read.kind, kModel.kind);
  EXPECT_EQ(read.version, kModel.version);
  EXPECT_EQ(read.options, kModel.options);
  EXPECT_EQ(read.tasks, kModel.tasks);
  EXPECT_EQ(read.learned, kModel.learned);
}

TEST_F(ModelFileTest, ATaskThatIsLearntOnIsOneTask) {
  ModelFile model = kModel;
  model.add({"gmm:n=512,m=512", 64, 320});
  model.add({"softmax", 1, 2});
  ASSERT_EQ(model.tasks.size(), 3U);
  EXPECT_EQ(model.tasks[0], (ModelFile::Task{"gmm:n=512,m=512", 2064, 9440}));
}

TEST_F(ModelFileTest, WhatIsNoneIsRefused) {
  EXPECT_THROW(read_model_file(folder_ / "absent"), UserError);
  EXPECT_THROW(read_model_file(write("")), UserError);
  EXPECT_THROW(read_model_file(write("something else\n")), UserError);
  for (const std::string content : {"kind x\ntask many\n\n", "what is this\n\n"})
    EXPECT_THROW(read_model_file(write("tunesmith cost model 2\n" + sha256_hex(content) + "\n" + content)),
                 UserError);
}

// Some of them crash XGBoost.
TEST_F(ModelFileTest, WhatIsDamagedIsRefusedWhereverItIs) {
  write_model_file(folder_ / "model", kModel);
  std::ifstream in(folder_ / "model", std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(in), {});
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    EXPECT_THROW(read_model_file(write(bad)), UserError) << at;
    EXPECT_THROW(read_model_file(write(good.substr(0, at))), UserError) << at;
  }
}

TEST_F(ModelFileTest, AFolderThatIsNotThereIsSaid) {
  EXPECT_THROW(write_model_file(folder_ / "absent/model", kModel), EnvironmentError);
}

}  // namespace
}  // namespace tunesmith
