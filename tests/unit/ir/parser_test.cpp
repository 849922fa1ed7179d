#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/parser.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/support/error.h>

#include "unit/ir/make_gmm.h"

namespace tunesmith {
namespace {

/// Reading and printing keeps `text`.
void expect_kept(const std::string& text) { EXPECT_EQ(to_string(parse_program(text)), text); }

/// A program with this store, and buffers of several types.
std::string storing(const std::string& store) {
  return "program p(A: f32[8], D: f64[8], I: i32[8], L: i64[8], U: u8[8], W: u64[8], B: bool[8]) -> (O: "
         "f32[8])\n"
         "  for i in 0..8:\n"
         "    for j in 0..4:\n"
         "      " +
         store + "\n";
}

std::string refusal(const std::string& text) {
  try {
    parse_program(text, "p.txt");
  } catch (const UserError& error) {
    return error.what();
  }
  return "read";
}
std::string refusal_of(const std::string& store) { return refusal(storing(store)); }

void expect_same(const Program& program) {
  const std::string text = to_string(program);
  const Program again = parse_program(text);
  EXPECT_EQ(structural_hash(again), structural_hash(program)) << text;
  EXPECT_EQ(to_string(again), text);
}

TEST(Parser, ReadsWhatIsPrinted) {
  expect_kept(
      "program gmm(A: f32[512, 128] constant, B: f32[128, 256]) -> (C: f32[512, 256])\n"
      "  intermediate C_local: f32[8, 8] local strides [12, 1]\n"
      "  annotate ratio = 0.5\n"
      "  annotate \"two words\" = \"a \\\"b\\\" \\\\ \\n \\x01\"\n"
      "  annotate unroll_max_step = -16\n"
      "  for i in 0..512 parallel:\n"
      "    annotate pack.hint = inf\n"
      "    for j in 0..256 bind(block.x):\n"
      "      for k in 0..128 unrolled:\n"
      "        block C(vi: spatial 512 = i, vj: spatial 256 = j, vk: reduction 128 = k):\n"
      "          where i < 500 and (j < 3 or not k == 4)\n"
      "          annotate double_buffer = 1\n"
      "          init:\n"
      "            C[vi, vj] = 0.0\n"
      "          C[vi, vj] = C[vi, vj] + A[vi, vk]*B[vk, vj]\n"
      "          C_local[0, 0] = min(C[0, 0], select(vi < 3, A[0, 0], 2.0))\n");
}

TEST(Parser, ReadsParameters) {
  expect_kept(
      "program p[1 <= n <= 512 typical [128, 384], 2 <= m <= 8](A: f32[512, 8] extents [n, 8]) -> (O: "
      "f32[512, 10] "
      "extents [n, m + 2])\n"
      "  for n_1 in 0..n:\n"
      "    O[n_1, 0] = f32(n_1 + m)\n");
}

TEST(Parser, RefusesParameters) {
  const auto refused = [](const std::string& head) {
    return refusal("program p" + head + " -> ()\n  pass\n");
  };
  EXPECT_EQ(refused("[4 <= n <= 2]()"), "p.txt:1:11: no value of 'n' is between 4 and 2");
  EXPECT_EQ(refused("[1 <= n <= 2, 1 <= n <= 3]()"), "p.txt:1:24: parameter 'n' already exists");
  EXPECT_EQ(refused("[1 < n]()"), "p.txt:1:13: expected '<=' between a parameter and its bound, found '<'");
  EXPECT_EQ(refused("[1 <= n <= 2](A: f32[2] extents [k])"), "p.txt:1:43: unknown variable 'k'; known: n");
  EXPECT_EQ(refused("[1 <= n <= 2](A: f32[2] extents [n, 1])"), "p.txt:1:42: expected 1 extents, found 2");
}

TEST(Parser, ReadsLoweredPrograms) {
  expect_kept(
      "program t(X: f32[64]) -> (O: f32[64])\n"
      "  for i in 0..2 bind(block.x):\n"
      "    alloc S: f32[4, 8] shared swizzle [1 bits from 3 at 2] at 64:\n"
      "      alloc acc: f32[8] register:\n"
      "        for k in i*2..+min(4, i + 1):\n"
      "          async:\n"
      "            S[ramp(0, 1, 8)] = X[ramp(k*8, 1, 8)] if ramp(0, 1, 8) < broadcast(5, 8)\n"
      "          async_wait(1)\n"
      "          barrier(thread)\n"
      "          handover(thread.x, versions 2):\n"
      "            produce:\n"
      "              acc[ramp(0, 1, 8)] = broadcast(0.0, 8)\n"
      "            consume:\n"
      "              if k == 1:\n"
      "                O[ramp(0, 1, 8)] = acc[ramp(0, 1, 8)] + broadcast(f32(k), 8) where ramp(0, 1, 8) < "
      "broadcast(3, 8)\n"
      "              else:\n"
      "                pass\n");
}

TEST(Parser, TheSameStructure) {
  Program program = test::make_gmm(5, 6, 7);
  expect_same(program);
  const Buffer c = program.outputs[0];
  const Var i("i"), j("i");
  StmtPtr store = std::make_unique<Store>(c, std::vector<Expr>{i - 3, j}, load(c, {i, j}, lt(i, j)));
  // A sequence of one statement is another program than the statement, and so is a variable of two loops.
  Seq one;
  one.append(store->clone());
  StmtPtr inner = program.make_loop(j, 4, one.clone());
  StmtPtr nest = program.make_loop(i, 4, inner->clone());
  program.root().append(nest->clone());
  program.root().append(nest->clone());
  program.root().append(program.make_loop(Var("i"), 4, std::make_unique<Seq>()));
  expect_same(program);
  EXPECT_THAT(to_string(program), testing::HasSubstr("for i again in 0..4:"));
}

TEST(Parser, BuffersOfOneName) {
  Program program;
  const Buffer x = make_buffer("X", kF32, {4}), again = make_buffer("X", kF32, {4}, kScopeLocal);
  program.outputs = {x};
  const auto fill = [&] {
    auto stores = std::make_unique<Seq>();
    stores->append(std::make_unique<Store>(x, std::vector<Expr>{0}, load(again, {Expr(1)})));
    stores->append(std::make_unique<Store>(again, std::vector<Expr>{0}, load(x, {Expr(1)})));
    return std::make_unique<Allocate>(again, std::move(stores));
  };
  program.root().append(fill());
  program.root().append(fill());
  expect_same(program);
  EXPECT_THAT(to_string(program), testing::HasSubstr("  alloc X_1:\n"));
}

TEST(Parser, TypesOfLiterals) {
  for (const char* store : {
           "O[i] = f32(select(i < 3, f64(1.0), f64(2.0)))",
           "O[i] = f32(select(i < 3, 1.0, D[i]))",
           "O[i] = f32(L[i] - 3 + -4 - -5)",
           "O[i] = f32(U[i] - 3)",
           "O[i] = f32(max(W[i], 18446744073709551613))",
           "O[i] = f32(W[i] - 3) + f32(L[i]*-1)",
           "O[i] = select(B[i] == true, -inf, nan)",
           "O[i] = select(B[i] and I[i] < 3, nan(0xfff8000000000000), -0.0)",
           "O[i] = pow(A[i], 2.0) + 1e-07 - 3.0",
           "O[i] = A[i + j - 3] + A[(i + 3)//4%2 + 7 - i]",
           "O[i] = f32(bit_and(I[i], 255)) + f32(index(I[i]) + i)",
           "O[i] = f32(select(i < 3, index(1), index(2)))",
           "O[i] = f32(min(i*4, j))",
       }) {
    expect_kept(storing(store));
  }
}

TEST(Parser, ReadsWhatPeopleWrite) {
  EXPECT_EQ(to_string(parse_program("program p (X : f32[4])->( O:f32[4] ) # a comment\n\n"
                                    "      for i in 0 .. 4 :  # another\n"
                                    "       O[ i ]=-X[3-i]*2 + (X[i] if i > 2)\n"
                                    "       ^^^^^^ what a message marks")),
            "program p(X: f32[4]) -> (O: f32[4])\n"
            "  for i in 0..4:\n"
            "    O[i] = X[3 - i]*-1.0*2.0 + (X[i] if 2 < i)\n");
}

TEST(Parser, SaysWhatIsWrongAndWhere) {
  struct Case {
    const char* store;
    const char* message;
  };
  for (const auto& [store, message] : {
           Case{"O[i] = A[n]", "4:16: unknown variable 'n'; known: i, j"},
           Case{"O[i] = AA[i]", "4:14: unknown buffer 'AA'; did you mean 'A'?"},
           Case{"O[i, j] = 1.0", "4:7: O has 1 dimensions, not 2"},
           Case{"O[i] = A[i] + D[i]", "4:19: '+' takes operands of one type, not f32 and f64"},
           Case{"O[i] = D[i]", "4:14: what is stored to O must be f32, not f64"},
           Case{"O[i] = f32(1.5) + f32(f32(select(i < 3, 1.0, 2.0)))",
                "4:47: cannot infer the type of 1.0; write it as f32(1.0)"},
           Case{"O[i] = f32(U[i] + 300)", "4:25: '300' is not an integer that u8 has"},
           Case{"O[i] = A[1.5]", "4:16: '1.5' is not an integer that index has"},
           Case{"O[i] = A[I[i]]", "4:16: an index must be index, not i32"},
           Case{"O[i] = A[i/2]", "4:17: an index is divided by '//'"},
           Case{"O[i] = A[i//j]", "4:17: an index is divided by '//' by positive constants only"},
           Case{"O[i] = sine(A[i])", "4:14: unknown function 'sine'; did you mean 'sin'?"},
           Case{"O[i] = min(A[i])", "4:22: expected ',' between the operands of min, found ')'"},
           Case{"O[i] = exp(I[i])", "4:18: exp takes floats, not i32"},
           Case{"O[i] = A[i", "4:17: expected ']' behind the indices, found the end of the line"},
           Case{"O[i] = 1.0 2.0", "4:18: expected the end of the line, found '2'"},
           Case{"O[i] = select(i < j < 3, 1.0, 2.0)",
                "4:27: comparisons do not chain; write a < b and b < c"},
           Case{"O[i] = A[ramp(i, 1, 4)] + A[ramp(i, 1, 8)]", "4:31: '+' takes operands of 4 and of 8 lanes"},
           Case{"fort k in 0..4:", "4:7: unknown statement 'fort'; did you mean 'for'?"},
           Case{"for k in i..j:", "4:19: expected '+' and the extent of a loop that does not begin at 0"},
           Case{"for k in 0..4:",
                "5:1: expected an indented line, found the end of the text; write 'pass' for an empty body"},
           Case{"alloc A: f32[8]:", "4:13: buffer 'A' already exists"},
           Case{"alloc S: flt32[8]:", "4:16: unknown type 'flt32'; did you mean 'f32'?"},
           Case{"block b(v: spacial 8 = i):",
                "4:18: unknown iterator kind 'spacial'; did you mean 'spatial'?"},
           Case{"O[i] = 1.0\n        pass", "5:9: unexpected indentation"},
       }) {
    EXPECT_EQ(refusal_of(store), std::string("p.txt:") + message);
  }
  EXPECT_EQ(refusal("prog p() -> ()\n"), "p.txt:1:1: expected 'program' at the begin of a line, found 'p'");
}

TEST(Parser, Limits) {
  const auto nested = [](const std::string& open, const std::string& close) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += open;
    text += "i";
    for (int i = 0; i < 100000; ++i) text += close;
    return refusal_of("O[" + text + "] = 1.0");
  };
  EXPECT_THAT(nested("(", ")"), testing::HasSubstr("p.txt:4:"));
  EXPECT_THAT(nested("A[", "]"), testing::HasSubstr("nested too deeply"));
  EXPECT_THAT(nested("-", ""), testing::HasSubstr("nested too deeply"));
  EXPECT_THAT(nested("not ", ""), testing::HasSubstr("nested too deeply"));
  EXPECT_THAT(nested("i + ", ""), testing::HasSubstr("operations in one another"));
  std::string deep = "program p() -> (O: f32[4])\n";
  for (int i = 0; i < 3000; ++i) deep += std::string(static_cast<size_t>(i + 1), ' ') + "async:\n";
  EXPECT_THAT(refusal(deep), testing::HasSubstr("statements are nested too deeply"));
  EXPECT_THAT(refusal(std::string(kMaxProgramText + 1, ' ')), testing::HasSubstr("larger than"));
  EXPECT_THAT(refusal("program p(A: f64[1073741824, 1073741824]) -> ()\n  pass\n"),
              testing::HasSubstr("exceeds the address space"));
}

}  // namespace
}  // namespace tunesmith
