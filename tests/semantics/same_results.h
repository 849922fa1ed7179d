// Compares candidates' results with those of the interpreted program.
#pragma once

#include <vector>

#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/search/candidate.h>
#include <tunesmith/space/space.h>
#include <tunesmith/verification/interpreter.h>

#include "random_arguments.h"

namespace tunesmith_test {

class SameResults {
 public:
  explicit SameResults(const tunesmith::Program& program)
      : program_(program.clone()),
        inputs_(program.inputs.size()),
        given_(tunesmith::test::random_arguments(program)),
        wanted_(given_) {
    interpret(program, wanted_);
  }

  void expect_of(const tunesmith::Candidate& candidate, double tolerance = 1e-3) const {
    std::vector<tunesmith::Tensor> got = given_;
    interpret(candidate.lowered, got);
    for (size_t i = inputs_; i < got.size(); ++i) {
      EXPECT_LT(max_error(wanted_[i], got[i]), tolerance)
          << candidate.trace.str() << to_string(candidate.lowered.program);
    }
  }

  /// `draws` candidates of sketch `number` are legal, and compute what the program does.
  void expect_of_draws(const tunesmith::Space& space, const tunesmith::SketchSet& set, size_t number,
                       uint64_t draws) const {
    const tunesmith::Trace open = set.sketches[number].trace().with_open_decisions();
    for (uint64_t draw = 0; draw < draws; ++draw) {
      const auto candidate = space.materialise(program_, open, tunesmith::RandomStream(draw, number));
      ASSERT_TRUE(candidate) << candidate.error().message;
      expect_of(**candidate);
    }
  }

 private:
  tunesmith::Program program_;
  size_t inputs_;
  std::vector<tunesmith::Tensor> given_;
  std::vector<tunesmith::Tensor> wanted_;
};

}  // namespace tunesmith_test
