#include "tunesmith/verification/data_sets.h"

#include <gtest/gtest.h>

namespace tunesmith::test {
namespace {

// bf16 counts to 256: on a row of 1024 equal terms, a softmax's unscheduled program was wrong.
TEST(DataSets, NoSumAlongARowIsOfBackgroundAlone) {
  constexpr int64_t kRow = 1024;
  for (const DataKind kind : kDataKinds) {
    for (const Fill& fill : fills(kind, kRow)) {
      if (fill.background == 0.0 || fill.noise != 0.0) continue;
      Tensor data = Tensor::zeros(kBF16, {kRow, kRow});
      draw(data, fill, true, kRow, 1);
      for (int64_t begin = 0; begin < data.elements(); begin += kRow) {
        bool has_terms = false;
        for (int64_t i = begin; i < begin + kRow; ++i)
          has_terms = has_terms || data.get(i) != fill.background;
        ASSERT_TRUE(has_terms) << fill.text() << ", row " << begin / kRow;
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith::test
