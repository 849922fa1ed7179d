#include <optional>
#include <string_view>
#include <vector>

#include "api/program_parts.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/analysis/element_reader.h"

namespace tunesmith::api {
namespace {

tunesmith_error* accesses_with_indices(const tunesmith_program* program, uint32_t block, uint32_t sort,
                                       tunesmith_span* accesses) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "analysis.accesses";
    const Block& found = block_of(program, block, kCall);
    tunesmith_span& out = given(accesses, kCall);
    out = program->accesses.emplace_back(*program->program, found, accesses_of(found, sort)).span();
  });
}

tunesmith_error* matrix_product(const tunesmith_program* program, uint32_t block,
                                tunesmith_matrix_product* product, tunesmith_text* reason) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "analysis.matrix_product";
    const Block& found = block_of(program, block, kCall);
    tunesmith_matrix_product& out = given(product, kCall);
    tunesmith_text& why = given(reason, kCall);
    MatrixProduct& matched = program->products.emplace_back();
    why = text(match_matrix_product(found, &matched));
    if (why.size > 0) return;
    fill(&out, {sizeof(tunesmith_matrix_product), static_cast<uint32_t>(matched.factors[0]),
                static_cast<uint32_t>(matched.factors[1]), matched.reduction_inside[0] ? 1U : 0U,
                matched.reduction_inside[1] ? 1U : 0U, text(matched.index_map), matched.extents.data(),
                matched.extents.size()});
  });
}

tunesmith_error* element_reader(const tunesmith_program* program, uint32_t block, uint32_t* reader) noexcept {
  return guarded([&] {
    constexpr const char* kCall = "analysis.element_reader";
    const Block& found = block_of(program, block, kCall);
    const Block* reading = element_reader_of(*program->program, found);
    given(reader, kCall) = reading == nullptr ? TUNESMITH_NONE : static_cast<uint32_t>(reading->id);
  });
}

}  // namespace

const tunesmith_analysis_table k_analysis_table = {sizeof(tunesmith_analysis_table), accesses_with_indices,
                                                   matrix_product, element_reader};

}  // namespace tunesmith::api
