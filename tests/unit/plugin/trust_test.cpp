#include "plugin/trust.h"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace tunesmith {
namespace {

// The checked file is the loaded one, even if somebody replaces it in between.
TEST(TrustedFile, ItsPathLastsWhateverTakesItsName) {
  const test::TemporaryFolder folder;
  std::filesystem::path path;
  {
    std::ofstream(folder / "library") << "checked";
    std::ofstream(folder / "other") << "exchanged";
    TrustedFile file(std::filesystem::canonical(folder / "library"));
    EXPECT_EQ(file.read(100), "checked");
    std::filesystem::rename(folder / "other", folder / "library");
    EXPECT_FALSE(file.unchanged());
    path = file.lasting_path();
  }
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "checked");
}

}  // namespace
}  // namespace tunesmith
