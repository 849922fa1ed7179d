// Draws data sets and runs the reference on them.
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

/// Runs a reference program on its inputs, then its outputs (reference.h).
using RunReference = std::function<void(std::span<Tensor>)>;

struct DrawnData {
  Fill fill;
  std::vector<Tensor> inputs;
  std::vector<ExpectedOutput> expected;  // one for each output
  double looseness = 0.0;                // of the worst output, as for choose_data()
};

/// The properties of the program that the choice of data depends on.
struct DataQuestion {
  DataKind kind = DataKind::Random;
  std::vector<Argument> arguments;
  std::vector<bool> has_bound;  // for each output (reference.h)
  int64_t most_terms = 1;
  uint64_t seed = 1;
  int64_t elements = 1;                      // number of elements that sum up most_terms terms (reference.h)
  bool exponentiates_below_maximum = false;  // (reference.h)
  EdgeTraits edges = {};                     // without these, no data have edges
};

/// The inputs of draw `number` of `fill`.
std::vector<Tensor> draw_inputs(const DataQuestion& question, const Fill& fill, int64_t number = 0);

/// True if nearly every term of a longest sum is drawn as more than background in some element.
bool sees_every_term(const DataQuestion& question, const Fill& fill);

/// The question for the data of `program`.
DataQuestion question_of(const Program& program, DataKind kind, uint64_t seed = 1);

/// The first draw of the first fill with tight bounds (data_sets.h), or else the tightest of all. Throws
/// UserError if its bounds exceed kLoosest of a typical element: no result could then be verified.
DrawnData choose_data(const DataQuestion& question, const RunReference& run);

/// All draws of a set; empty if the bounds of one are too wide, or the first hides a term.
std::vector<DrawnData> draw_all(const DataQuestion& question, const Fill& fill, const RunReference& run);

/// Does rounding a result to 16 bits hide one term of a sum (as for the
/// root of 256 equal terms)? Such a sum may also have reached the range
/// where its type no longer counts, so that a term counted twice is lost.
bool hides_a_term(const DataQuestion& question, const DrawnData& drawn, const RunReference& run);

/// The exact set in several draws of one fill, if no single
/// draw sees every term; empty if several do not either.
std::vector<DrawnData> choose_several_draws(const DataQuestion& question, const RunReference& run);

}  // namespace tunesmith
