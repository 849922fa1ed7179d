// Programs as text: reads what ir/printer.h prints, lowered or not.
//
//   program gmm(A: f32[64, 8], B: f32[8, 4]) -> (C: f32[64, 4])
//     for i in 0..64 parallel:
//       for j in 0..4:
//         for k in 0..8:
//           block C(vi: spatial 64 = i, vj: spatial 4 = j, vk: reduction 8 = k):
//             init:
//               C[vi, vj] = 0.0
//             C[vi, vj] = C[vi, vj] + A[vi, vk]*B[vk, vj]
//
// Indentation nests. Several lines are a Seq, as are a line and a
// `pass`; `pass` alone is an empty Seq. `#` begins a comment, and lines
// of carets are skipped. docs/schedule.md describes the language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Longer texts are refused.
inline constexpr size_t kMaxProgramText = size_t{16} << 20;

/// structural_hash(parse_program(to_string(p))) is that of `p`, and printing gives the
/// same text. Ids of blocks and loops are fresh, and variables are numbered in text
/// order. Throws UserError with `file`:line:column, what was expected and the nearest
/// known name. The result is well typed; it need not be well formed (analysis/verify.h).
Program parse_program(std::string_view text, const std::string& file = "program");
/// For one or more programs in sequence, such as the preparation of constant inputs and the main program.
std::vector<Program> parse_programs(std::string_view text, const std::string& file = "program");

}  // namespace tunesmith
#pragma GCC visibility pop
