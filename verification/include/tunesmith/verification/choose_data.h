// Draws a data set and runs the reference on it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/verification/argument.h"
#include "tunesmith/verification/data_sets.h"
#include "tunesmith/verification/verify_outputs.h"

namespace tunesmith {

/// How to run a reference program: with its inputs, then its outputs (reference.h).
using RunReference = std::function<void(std::span<Tensor>)>;

struct DrawnData {
  Fill fill;
  std::vector<Tensor> inputs;
  std::vector<ExpectedOutput> expected;  // of each output
  double looseness = 0.0;                // of the worst output; as choose_data() answers it
};

/// What a choice of data depends on besides the reference.
struct DataQuestion {
  DataKind kind = DataKind::Random;
  std::vector<Argument> arguments;
  std::vector<bool> has_bound;  // of each output (reference.h)
  int64_t most_terms = 1;
  uint64_t seed = 1;
  int64_t elements = 1;                      // that sum up most_terms (reference.h)
  bool exponentiates_below_maximum = false;  // (reference.h)
  EdgeTraits edges = {};                     // without them no data have edges
};

/// The inputs as `fill` draws them for the `number`-th time.
std::vector<Tensor> draw_inputs(const DataQuestion& question, const Fill& fill, int64_t number = 0);

/// True when about every term of a longest sum is no background in some element.
bool sees_every_term(const DataQuestion& question, const Fill& fill);

/// What is asked about the data of `program`.
DataQuestion question_of(const Program& program, DataKind kind, uint64_t seed = 1);

/// The first draw of the first fill whose bounds are tight (data_sets.h), or else the tightest of all. Throws
/// UserError when that one leaves bounds above kLoosest of a typical element: nothing could be verified.
DrawnData choose_data(const DataQuestion& question, const RunReference& run);

/// All draws of a set; empty when one of them has too wide bounds, or the first hides a term.
std::vector<DrawnData> draw_all(const DataQuestion& question, const Fill& fill, const RunReference& run);

/// Does the rounding of a result in 16 bits hide one term of a sum, as that of the root of 256 equal ones
/// does? Such a sum may also have come to where its type stops to count, so that a term counted twice is
/// lost.
bool hides_a_term(const DataQuestion& question, const DrawnData& drawn, const RunReference& run);

/// The exact set in several draws, all of one fill, where no single one sees every term; empty where several
/// do not either.
std::vector<DrawnData> choose_several_draws(const DataQuestion& question, const RunReference& run);

}  // namespace tunesmith
