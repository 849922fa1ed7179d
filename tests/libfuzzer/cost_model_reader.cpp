// A cost model loads any bytes and predicts with them, or refuses them, also if the file's checksum is right.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/search/model_file.h>
#include <tunesmith/support/hash.h>

#include "read_or_refuse.h"
#include "scratch_file.h"
#include "xgboost/inputs.h"
#include "xgboost/pack_sum.h"

using namespace tunesmith;

namespace {

void read_learned(const std::string& learned) {
  xgboost::PackSum shown{xgboost::Settings()};
  shown.load(learned);
  shown.importance();
  xgboost::PackSum used{xgboost::Settings()};
  used.use_columns(feature_columns());
  used.load(learned);
  FeatureRows rows;
  rows.columns = feature_columns().size();
  rows.values.assign(2 * rows.columns, 1.0F);
  const FeatureRows* const program = &rows;
  used.predict({&program, 1});
}

std::string with_columns(const std::string& trees) {
  const std::vector<std::string> names = xgboost::input_names(feature_columns());
  return fmt::format("tunesmith pack sum 4 {}\n{}\n", names.size(), fmt::join(names, "\n")) + trees;
}

void read_as_file(const std::string& content) {
  const ModelFile file =
      read_model_file(test::scratch_file("tunesmith cost model 2\n" + sha256_hex(content) + "\n" + content));
  read_learned(file.learned);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  test::read_or_refuse([&] { read_as_file(bytes); });
  test::read_or_refuse([&] { read_learned(bytes); });
  test::read_or_refuse([&] { read_learned(with_columns(bytes)); });
  return 0;
}
