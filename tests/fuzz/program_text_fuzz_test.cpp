// Damaged programs: the reader answers with a program that prints and reads back, or with a UserError at a
// place, never otherwise.
#include <gtest/gtest.h>

#include <tunesmith/ir/parser.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/support/error.h>

#include "damage.h"

namespace tunesmith::fuzz {
namespace {

constexpr const char* kPrograms[] = {
    "program p(A: f32[8, 4] constant, I: i32[8], W: u64[8]) -> (O: f32[8, 4] strides [6, 1])\n"
    "  intermediate T: f64[8] local\n"
    "  annotate key = \"a \\\"b\\\" \\x01\"\n"
    "  for i in 0..8 parallel:\n"
    "    annotate hint = 2.5\n"
    "    for j in 0..4 bind(thread.x):\n"
    "      block O(vi: spatial 8 = i, vj: spatial 4 = j, vk: reduction 3 = i//4%3):\n"
    "        where i < 7 and not (j == 2 or 3 <= j)\n"
    "        init:\n"
    "          O[vi, vj] = nan(0xfff8000000000000)\n"
    "        O[vi, vj] = O[vi, vj] + select(vi < 3, A[vi, vj]*-2.5, min(pow(A[0, vk], 2.0), 1e-07))\n"
    "        T[vi] = f64(I[vi] - (3)) + f64(select(vk == 1, u8(1), u8(255))) - f64(W[vi] - 3)\n",
    "program t(X: f32[64]) -> (O: f32[64])\n"
    "  for i in 0..2 bind(block.x):\n"
    "    alloc S: f32[4, 8] shared swizzle [1 bits from 3 at 2] at 64:\n"
    "      alloc acc: f32[8] register:\n"
    "        for k in i*2..+min(4, i + 1) unrolled:\n"
    "          async:\n"
    "            S[ramp(0, 1, 8)] = X[ramp(k*8, 1, 8)] if ramp(0, 1, 8) < broadcast(5, 8)\n"
    "          async_wait(1)\n"
    "          barrier(thread)\n"
    "          handover(thread.x, versions 2):\n"
    "            produce:\n"
    "              acc[ramp(0, 1, 8)] = broadcast(0.0, 8)\n"
    "              pass\n"
    "            consume:\n"
    "              if k == 1:\n"
    "                O[ramp(0, 1, 8)] = acc[ramp(0, 1, 8)] where ramp(0, 1, 8) < broadcast(3, 8)\n"
    "              else:\n"
    "                pass\n"
    "        for k again in 1..3:\n"
    "          O[k] = f32x8(broadcast(k, 8))\n",
};

constexpr std::string_view kProgramPieces[] = {"[",
                                               "]",
                                               "(",
                                               ")",
                                               ",",
                                               "=",
                                               ":",
                                               "\"",
                                               "\\",
                                               "\n",
                                               "  ",
                                               "\n    ",
                                               "#",
                                               "-",
                                               "9",
                                               ".",
                                               "..",
                                               "+",
                                               "//",
                                               "%",
                                               "i",
                                               "vi",
                                               "A",
                                               "O[i] = 1.0",
                                               "select",
                                               "ramp",
                                               "f32",
                                               "index(",
                                               "inf",
                                               "nan",
                                               "not",
                                               "if",
                                               "where",
                                               "again",
                                               "pass\n",
                                               "\xff",
                                               std::string_view("\0", 1)};

TEST(ProgramTextFuzz, DamagedTextsAreReadOrRefused) {
  RandomStream random(78);
  int read = 0;
  int refused = 0;
  for (int i = 0; i < 40000; ++i) {
    const std::string text = damage(kPrograms[random.below(std::size(kPrograms))], kProgramPieces, random);
    try {
      const std::vector<Program> programs = parse_programs(text);
      ++read;
      for (const Program& program : programs) {
        const std::string printed = to_string(program);
        const Program again = parse_program(printed);
        ASSERT_EQ(to_string(again), printed) << text;
        ASSERT_EQ(structural_hash(again), structural_hash(program)) << text << printed;
      }
    } catch (const UserError& error) {
      ++refused;
      ASSERT_GT(error.location().line, 0) << error.what() << "\n" << text;
      ASSERT_GT(error.location().column, 0) << error.what();
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace tunesmith::fuzz
