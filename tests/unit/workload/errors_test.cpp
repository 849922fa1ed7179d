// Everything the language refuses: the place, what was expected, and the nearest known name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/workload/parse.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// `statements` stand from line 8, column 3 on.
std::string refused(const std::string& statements, const std::string& outputs = "O") {
  return error_of(with_statements(statements, outputs));
}

TEST(LanguageErrors, UndefinedNamesMeetTheNearestKnown) {
  EXPECT_EQ(refused("O[i<n, j<m] = Xs[i, j]"), "w.yaml:8:17: unknown buffer 'Xs'; did you mean 'X'?");
  EXPECT_EQ(refused("O[row<n] = X[rov, 0]"), "w.yaml:8:16: 'rov' is not defined; did you mean 'row'?");
  EXPECT_EQ(refused("O[i<n] = X[i, 0] +\n    ex(X[i, 1])"),
            "w.yaml:9:7: unknown function 'ex'; did you mean 'exp'?");
  EXPECT_EQ(refused("O[i<nn] = X[i, 0]"), "w.yaml:8:7: 'nn' is not defined; did you mean 'n'?");
  EXPECT_EQ(refused("O[i<n] = X[i, 0] * f33(3)"), "w.yaml:8:22: unknown function 'f33'; did you mean 'f32'?");
  EXPECT_EQ(refused("O[i<n] = n[i]"), "w.yaml:8:12: 'n' is a parameter, not a buffer");
  EXPECT_EQ(refused("O[i<n] = n(i)"), "w.yaml:8:12: 'n' is a number, not a function; multiply with '*'");
  EXPECT_EQ(refused("O[i<n] = X + X[i, 0]"),
            "w.yaml:8:12: 'X' is a buffer; read an element: X[...] with 2 indices");
}

TEST(LanguageErrors, ReadsOutOfBounds) {
  EXPECT_EQ(refused("O[i<n, j<m] = X[i, j + 1]"),
            "w.yaml:8:22: 'X' may be read out of bounds: index 2 of 2 runs from 1 to 8, the extent is 8; pad "
            "with inside(X[...], value), or correct the shape or the index");
  EXPECT_THAT(refused("O[i<n, j<m] = X[j, i]"),
              HasSubstr("w.yaml:8:19: 'X' may be read out of bounds: index 1 of 2 runs from 0 to 7"));
  EXPECT_THAT(refused("O[i<n] = X[i - 1, 0]"),
              HasSubstr("8:14: 'X' may be read out of bounds: index 1 of 2 runs from -1 to 4"));
  EXPECT_THAT(refused("O[i<n] = X[6, i]"), HasSubstr("runs from 6 to 6, the extent is 6"));
  EXPECT_THAT(refused("O[i<n] = sum(k<9) X[i, k]"), HasSubstr("8:26: 'X' may be read out of bounds"));
  EXPECT_THAT(refused("O[i<n] = select(i < 5, X[i + 2, 0], 0)"), HasSubstr("runs from 2 to 6"));
  EXPECT_THAT(refused("O[i<n] = select(i > 4, 0, X[i + 2, 0])"), HasSubstr("runs from 2 to 6"));
}

TEST(LanguageErrors, IndicesThatAreData) {
  EXPECT_EQ(refused("O[i<n] = X[I[i], 0]"),
            "w.yaml:8:14: an index cannot depend on a buffer's contents; write at(...), which clamps the "
            "index to the buffer's bounds");
  EXPECT_EQ(refused("O[i<n] = X[at(X[i, 0]), 0]"),
            "w.yaml:8:17: at takes an integer, found f32; cast it: i64(...)");
  EXPECT_EQ(refused("O[i<n] = X[at(I[i] < 3), 0]"),
            "w.yaml:8:17: at takes an integer, found bool; cast it: i64(...)");
  EXPECT_EQ(refused("O[i<n] = X[at(I[i]) + 1, 0]"),
            "w.yaml:8:14: at() must be a whole index of a read; write W[at(I[i]), k]; what is added to the "
            "index goes into the parentheses");
  EXPECT_THAT(refused("O[i<n] = at(I[i])"), HasSubstr("8:12: at() must be a whole index"));
  EXPECT_THAT(refused("O[i<n] = X[at(I[i], 2), 0]"), HasSubstr("8:14: at takes 1 argument, found 2"));
  EXPECT_THAT(refused("O[i<n] = X[at(I[i + 1]), 0]"), HasSubstr("'I' may be read out of bounds"));
  EXPECT_THAT(refused("at[i<n] = X[i, 0]"), HasSubstr("'at'"));
}

TEST(LanguageErrors, BitsAndPositions) {
  EXPECT_EQ(refused("O[i<n] = I[i] & 3"),
            "w.yaml:8:17: '&' is not an operator of the language; write 'and', or bit_and(a, b)");
  EXPECT_EQ(refused("O[i<n] = I[i] << 3"),
            "w.yaml:8:17: '<<' is not an operator of the language; write shift_left(a, b)");
  EXPECT_EQ(refused("O[i<n] = bit_and(X[i, 0], 1)"),
            "w.yaml:8:12: bit_and takes integers, found f32; cast it: i32(...)");
  EXPECT_EQ(refused("O[i<n] = bit_not(3)"),
            "w.yaml:8:12: bit_not takes an integer with a type, found an integer; cast it: i32(...)");
  EXPECT_EQ(refused("O[i<n] = shift_left(1, 3)"),
            "w.yaml:8:12: shift_left takes a value with a type; give it one: i32(...)");
  EXPECT_EQ(refused("O[i<n] = argmax(a<2, b<m) X[a, b]"), "w.yaml:8:12: argmax takes one axis, found 2");
  EXPECT_EQ(refused("O[i<n] = prod(j<m) X[i, j] < 1"), "accepted");
  EXPECT_THAT(refused("O[i<n] = u16(I[i]) + 70000"), HasSubstr("70000 does not fit u16"));
  EXPECT_THAT(refused("O[i<n] = u64(I[i]) + (-1)"), HasSubstr("-1 does not fit u64"));
}

TEST(LanguageErrors, WrongRank) {
  EXPECT_EQ(refused("O[i<n] = X[i]"),
            "w.yaml:8:12: 'X' has 2 dimensions, but 1 index is given; its shape is [6, 8]");
  EXPECT_EQ(refused("O[i<n] = I[i, 0, 0]"),
            "w.yaml:8:12: 'I' has 1 dimension, but 3 indices are given; its shape is [6]");
}

TEST(LanguageErrors, TypesThatMeetWithoutACast) {
  EXPECT_EQ(refused("O[i<n] = X[i, 0] * I[i]"),
            "w.yaml:8:20: '*' takes two values of one type, found f32 and i32; cast one of them: f32(...)");
  EXPECT_EQ(refused("O[i<n] = I[i] + i"),
            "w.yaml:8:17: '+' takes two values of one type, found i32 and i64; cast one of them: i64(...)");
  EXPECT_EQ(refused("O[i<n] = exp(I[i])"),
            "w.yaml:8:12: exp takes a floating value, found i32; cast it: f32(...)");
  EXPECT_EQ(refused("O[i<n] = I[i] / 2"), "w.yaml:8:17: '/' divides floating values, found i32; use '//'");
  EXPECT_EQ(refused("O[i<n] = X[i, 0] // 2"), "w.yaml:8:20: '//' takes integers, found f32; divide with '/'");
  EXPECT_EQ(refused("O[i<n] = I[i] + 0.5"), "w.yaml:8:17: expected i32, this is 0.5");
  EXPECT_EQ(refused("O[i<n] = i8(I[i]) + 300"), "w.yaml:8:21: 300 does not fit i8");
  EXPECT_EQ(refused("O[i<n] = f16(X[i, 0]) + 1e6"), "w.yaml:8:25: 1000000 does not fit f16");
  EXPECT_EQ(refused("O[i<n] = X[i, 0] + t"),
            "w.yaml:8:20: '+' takes values, f32 is a data type; a cast is written f32(value)");
  EXPECT_EQ(refused("O[i<n] = 0"), "w.yaml:8:12: cannot infer the number's type; give it one: f32(...)");
  EXPECT_EQ(refused("O[i<n] = select(X[i, 0], 1, 2)"),
            "w.yaml:8:12: select takes a condition first, found f32; compare it with 0");
  EXPECT_EQ(refused("O[i<n] = select(i < 2, 1, 2)"),
            "w.yaml:8:12: cannot infer the type of this select; give one of them a type: f32(...)");
  EXPECT_EQ(refused("O[i<n] = (i < 2) + X[i, 0]"),
            "w.yaml:8:20: '+' takes two values of one type, found bool and f32; cast one of them: f32(...)");
  EXPECT_EQ(refused("O[i<n] = X[i, 0] and i < 2"), "w.yaml:8:20: 'and' takes two conditions, found f32");
  EXPECT_EQ(refused("O[i<n] = select(not X[i, 0], 1, 2)"), "w.yaml:8:19: 'not' takes a condition, found f32");
  EXPECT_EQ(refused("O[i<n] = bool(X[i, 0])"),
            "w.yaml:8:12: cannot cast f32 to a condition; compare it with 0");
  EXPECT_EQ(refused("O[i<n] = sum(j<m) X[i, j] < 0 and X[i, j] > 1"),
            "w.yaml:8:42: 'j' is not defined; known: i, m, n, t");
  EXPECT_EQ(refused("O[i<n] = sum(j<m) (X[i, j] < 0)"),
            "w.yaml:8:12: sum reduces numbers, not conditions; count with select(condition, i32(1), 0)");
  EXPECT_EQ(refused("O[i<n] = log(0 - 1) * X[i, 0]"), "w.yaml:8:12: log(-1) is not a number");
  EXPECT_EQ(refused("O[i<n] = pow(X[i, 0])"), "w.yaml:8:12: pow takes 2 values, found 1");
  EXPECT_EQ(refused("O[i<n] = max(X[i, 0])"),
            "w.yaml:8:12: max takes at least two values; to reduce over an axis, give its extent: max(k<n) "
            "expression");
}

TEST(LanguageErrors, Indices) {
  EXPECT_EQ(refused("O[i<n] = X[i / 2, 0]"), "w.yaml:8:16: '/' divides floating values, found i64; use '//'");
  EXPECT_EQ(refused("O[i<n] = X[1 / 2, i]"),
            "w.yaml:8:14: expected an integer index, found a fraction; divide indices with '//'");
  EXPECT_EQ(refused("O[i<n] = X[I[i], 0]"),
            "w.yaml:8:14: an index cannot depend on a buffer's contents; write at(...), which clamps the "
            "index to the buffer's bounds");
  EXPECT_EQ(refused("O[i<n] = X[i64(I[i]), 0]"),
            "w.yaml:8:14: an index cannot depend on a buffer's contents; write at(...), which clamps the "
            "index to the buffer's bounds");
  EXPECT_EQ(refused("O[i<2, j<3] = X[i*j, 0]"),
            "w.yaml:8:19: an index multiplies two axes; an axis may be multiplied by parameters only");
  EXPECT_EQ(refused("O[i<n] = X[i // i, 0]"), "w.yaml:8:16: '//' needs a positive constant on its right");
  EXPECT_EQ(refused("O[i<n] = X[i % 0, 0]"), "w.yaml:8:16: '%' needs a positive constant on its right");
  EXPECT_EQ(refused("O[i<n] = X[i * 9007199254740993, 0]"), "w.yaml:8:16: this index may exceed 2^53");
  EXPECT_EQ(refused("O[i<n] = X[-9223372036854775807 - 1, 0]"), "w.yaml:8:14: this index may exceed 2^53");
  EXPECT_EQ(refused("O[i<n] = X[i64(9223372036854775807), 0]"), "w.yaml:8:14: this index may exceed 2^53");
  EXPECT_EQ(refused("O[i<n] = select(i < -9223372036854775807 - 1, X[i, 0], 0)"), "accepted");
}

TEST(LanguageErrors, Axes) {
  EXPECT_EQ(refused("O[i] = X[i, 0]"), "w.yaml:8:5: axis 'i' has no extent; write i<extent");
  EXPECT_EQ(refused("O[i<n, i<n] = X[i, 0]"), "w.yaml:8:10: axis 'i' is repeated; choose another name");
  EXPECT_EQ(refused("O[i<n, i<m] = X[i, 0]"),
            "w.yaml:8:10: axis 'i' has extent 8 here and 6 elsewhere in this statement; choose another name");
  EXPECT_EQ(refused("O[i<n] = sum(i<n) X[i, 0]"),
            "w.yaml:8:16: 'i' is an axis of what is computed here, and sum needs one of its own; rename it, "
            "for example sum(i2<extent), and read with i2");
  EXPECT_EQ(refused("O[i<n, j<m] = X[i, j] / sum(j) X[i, j]"),
            "w.yaml:8:31: 'j' is an axis of what is computed here, and sum needs one of its own; rename it, "
            "for example sum(j2<extent), and read with j2");
  EXPECT_THAT(refused("P[i<n, j<m] = X[i, j]\nO[i] = max(i) P[i, 0]"),
              HasSubstr("'i' is an axis of what is computed here, and max needs one of its own"));
  EXPECT_EQ(refused("O[i<n] = (sum(k<2) X[i, k]) + (sum(k<3) X[i, k])"),
            "w.yaml:8:38: axis 'k' has extent 3 here and 2 elsewhere in this statement; choose another name");
  EXPECT_EQ(refused("O[i<n] = sum(k<m, l<3) X[i, k]"),
            "w.yaml:8:21: axis 'l' is not used in what sum reduces; remove it, or multiply with its extent");
  EXPECT_EQ(refused("O[n<3] = X[n, 0]"),
            "w.yaml:8:5: 'n' is a parameter, so no axis can have its name; choose another name");
  EXPECT_EQ(refused("O[X<3] = X[0, 0]"),
            "w.yaml:8:5: 'X' is an input, so no axis can have its name; choose another name");
  EXPECT_EQ(refused("O[exp<3] = X[0, 0]"),
            "w.yaml:8:5: 'exp' is a keyword, so no axis can have its name; choose another name");
  EXPECT_EQ(refused("E[i<n] = X[i, 0]\nF[i<m] = Y[i, 0]\nO[i] = E[i] + F[i]"),
            "w.yaml:10:5: axis 'i' has different extents, 6 in line 8 and 8 in line 9; write i<extent");
  EXPECT_EQ(refused("O[i<n] = sum(k) X[i, k]"), "w.yaml:8:16: axis 'k' has no extent; write k<extent");
}

TEST(LanguageErrors, Extents) {
  EXPECT_EQ(refused("O[i<n - 6] = X[i, 0]"),
            "w.yaml:8:7: the extent of axis 'i' is 0 (n=6); expected 1 to 2^34");
  EXPECT_EQ(refused("O[i<n - m] = X[i, 0]"),
            "w.yaml:8:7: the extent of axis 'i' is -2 (n=6, m=8); expected 1 to 2^34");
  EXPECT_THAT(refused("O[i<1099511627776] = X[0, 0]"),
              HasSubstr("8:7: the extent of axis 'i' is 1099511627776; expected 1 to 2^34"));
  EXPECT_EQ(refused("O[i<131072, j<262144] = X[0, 0]"),
            "w.yaml:8:3: 'O' of shape [131072, 262144] has 3.44e+10 elements; at most 2^34 are accepted");
  EXPECT_THAT(refused("O[i<131072, j<131072] = sum(k<131072) X[0, 0] * f32(k)"),
              HasSubstr("8:3: 'O' takes 2.25e+15 steps to compute"));
  EXPECT_EQ(refused("O[i<n / 2] = X[i, 0]"),
            "w.yaml:8:9: expected an integer for an extent, found a number with a fraction; divide integers "
            "with '//'");
  EXPECT_EQ(refused("O[i<n // 0] = X[i, 0]"), "w.yaml:8:9: division by zero");
  EXPECT_EQ(refused("O[i<t] = X[i, 0]"), "w.yaml:8:7: expected an integer for an extent, found a data type");
  EXPECT_EQ(refused("O[i<n, j<X[0, 0]] = X[i, 0]"),
            "w.yaml:8:12: 'X[...]' is not allowed here; expected numbers and parameters");
  EXPECT_EQ(refused("O[i<9223372036854775807 + n] = X[i, 0]"),
            "w.yaml:8:27: 9223372036854775807 + 6 does not fit 64 bits");
}

TEST(LanguageErrors, OrderAndUseOfBuffers) {
  EXPECT_EQ(refused("O[i<n] = T[i]\nT[i<n] = X[i, 0]"),
            "w.yaml:8:12: 'T' is read before it is computed; move its statement, in line 9, above this one");
  EXPECT_EQ(refused("O[i<n] = O[i] + X[i, 0]"), "w.yaml:8:12: 'O' is read in its own statement");
  EXPECT_EQ(refused("T[i<n] = X[i, 0]\nO[i<n] = X[i, 1]"),
            "w.yaml:8:3: 'T' is computed, but nothing reads it; list it in 'outputs' or remove it");
  EXPECT_EQ(refused("O[i<n] = X[i, 0]\nO[i<n] = X[i, 1]"),
            "w.yaml:9:3: 'O' is already computed in line 8; a buffer is computed by one statement");
  EXPECT_EQ(refused("X[i<n] = Y[0, i]"),
            "w.yaml:8:3: 'X' is already an input in line 4; choose another name");
  EXPECT_EQ(refused("n[i<n] = Y[0, i]"),
            "w.yaml:8:3: 'n' is already a parameter in line 2; choose another name");
  EXPECT_EQ(refused("max[i<n] = Y[0, i]"), "w.yaml:8:3: 'max' is a keyword; choose another name");
  EXPECT_THAT(refused("Out[i<n] = X[i, 0]", "Uot"),
              HasSubstr("output 'Uot' is never computed; did you mean 'Out'?"));
  EXPECT_THAT(refused("O[i<n] = X[i, 0]", "X"), HasSubstr("output 'X' is an input in line 4, not computed"));
  EXPECT_THAT(refused("O[i<n] = X[i, 0]", "O, O"), HasSubstr("10:14: output 'O' is listed twice"));
}

TEST(LanguageErrors, Syntax) {
  EXPECT_EQ(refused("O[i<n] = X[i, 0"),
            "w.yaml:9:3: expected ',' or ']' after an argument of 'X', found end of line; expected an "
            "indented continuation line");
  EXPECT_EQ(refused("O[i<n] = (X[i, 0]"),
            "w.yaml:9:3: expected ')' to close the parenthesis, found end of line; expected an indented "
            "continuation line");
  EXPECT_EQ(refused("O[i<n] X[i, 0]"), "w.yaml:8:10: expected '=' after the axes, found 'X'");
  EXPECT_EQ(
      refused("O[i<n] += X[i, 0]"),
      "w.yaml:8:10: a statement computes its buffer once; accumulate with a reduction: sum(k<n) expression");
  EXPECT_EQ(refused("O = X[0, 0]"),
            "w.yaml:8:5: expected '[' after 'O': a statement is O[i<n] = expression, found '='");
  EXPECT_EQ(refused("O[0] = X[0, 0]"), "w.yaml:8:5: expected an axis: name<extent, found '0'");
  EXPECT_EQ(refused("O[i<n] = X[i, 0] X[i, 0]"),
            "w.yaml:8:20: expected an operator or the end of the statement, found 'X'");
  EXPECT_EQ(refused("O[i<n] = * 3"), "w.yaml:8:12: expected a value, found '*'");
  EXPECT_EQ(refused("O[i<n] = sum() X[i, 0]"), "w.yaml:8:16: expected an axis: name<extent, found ')'");
  EXPECT_EQ(refused("O[i<n] = X[i, 0] ** 2"),
            "w.yaml:8:20: '**' is not an operator of the language; write pow(a, b)");
  EXPECT_EQ(refused("O[i<n] = select(i < 2 && i > 1, X[i, 0], 0)"),
            "w.yaml:8:25: '&' is not an operator of the language; write 'and', or bit_and(a, b)");
  EXPECT_EQ(refused("O[i<n] = select(0 < i < 3, X[i, 0], 0)"),
            "w.yaml:8:25: comparisons do not chain; write a < b and b < c");
  EXPECT_EQ(refused("O[i<n] = 2X[i, 0]"),
            "w.yaml:8:13: 'X' follows a number directly; a name begins with a letter; multiplication is "
            "written with '*'");
  EXPECT_EQ(refused("O[i<n] = X[i, 0] @ 2"),
            "w.yaml:8:20: unexpected character '@'; expected a name, a number or an operator");
  EXPECT_EQ(refused("O[i<n] = 99999999999999999999 + X[i, 0]"),
            "w.yaml:8:12: the number 99999999999999999999 is out of range");
  EXPECT_EQ(refused("O[i<n] = 1e999 + X[i, 0]"), "w.yaml:8:12: the number 1e999 is out of range");
  EXPECT_EQ(refused("O[i<n] = inside(X[i, 0] + 1, 0)"),
            "w.yaml:8:27: inside takes an element of a buffer first; write inside(X[...], value)");
  EXPECT_EQ(refused("O[i<n] = inside(X[i, 0])"), "w.yaml:8:12: inside takes 2 arguments, found 1");
}

TEST(LanguageErrors, ASumFollowedByPlusIsAmbiguous) {
  EXPECT_EQ(refused("O[i<n] = sum(k<m) X[i, k] + 1"),
            "w.yaml:8:29: ambiguous: '+' may belong to the sum before it; write (sum(...) a) + b, or "
            "sum(...) (a + b)");
  EXPECT_EQ(refused("O[i<n] = 2 * max(k<m) X[i, k] - 1"),
            "w.yaml:8:33: ambiguous: '-' may belong to the max before it; write (max(...) a) - b, or "
            "max(...) (a - b)");
}

TEST(LanguageErrors, DepthAndSizeAreLimited) {
  EXPECT_THAT(refused("O[i<n] = " + std::string(1000, '(') + "X[i, 0]" + std::string(1000, ')')),
              HasSubstr("nested too deeply"));
  EXPECT_THAT(refused("O[i<n] = " + std::string(1000, '-') + "X[i, 0]"), HasSubstr("nested too deeply"));
  std::string chain = "O[i<n] = X[i, 0]";
  for (int i = 0; i < 1000; ++i) chain += " + 1";
  EXPECT_THAT(refused(chain), HasSubstr("this expression is too long; split it into several statements"));
  std::string nots = "O[i<n] = select(";
  for (int i = 0; i < 1000; ++i) nots += "not ";
  EXPECT_THAT(refused(nots + "i < 2, 1, 2)"), HasSubstr("nested too deeply"));
  std::string sums = "O[i<n] = ";
  for (int i = 0; i < 1000; ++i) sums += "sum(a" + std::to_string(i) + "<2) ";
  EXPECT_THAT(refused(sums + "1"), HasSubstr("nested too deeply"));
  std::string many;
  for (int i = 0; i < 300; ++i) many += "T" + std::to_string(i) + "[i<n] = X[i, 0]\n";
  EXPECT_THAT(refused(many + "O[i<n] = X[i, 0]"), HasSubstr("more than 256 statements"));
  EXPECT_THAT(refused("O[a<1, b<1, c<1, d<1, e<1, f<1, g<1, h<1, i<1] = X[0, 0]"),
              HasSubstr("'O' has more than 8 dimensions"));
}

TEST(DefinitionErrors, Keys) {
  EXPECT_EQ(error_of("name: w\ncompte: x\n"),
            "w.yaml:2:1: a workload has no key 'compte'; did you mean 'compute'?");
  EXPECT_EQ(error_of("name: w\nname: v\n"), "w.yaml:2:1: key 'name' is given twice; also in line 1");
  EXPECT_EQ(error_of("compute: O[i<1] = f32(1)\noutputs: [O]\n"),
            "w.yaml:1:1: a workload needs the key 'name'");
  EXPECT_EQ(error_of("name: w\noutputs: [O]\n"), "w.yaml:1:1: a workload needs the key 'compute'");
  EXPECT_EQ(error_of("name: w\ncompute: O[i<1] = f32(1)\n"),
            "w.yaml:1:1: a workload needs the key 'outputs'");
  EXPECT_EQ(error_of("name: w\ncompute: O[i<1] = f32(1)\noutputs: []\n"),
            "w.yaml:3:10: 'outputs' is empty; expected the name of a computed buffer");
  EXPECT_EQ(error_of("name: w\ncompute: O[i<1] = f32(1)\noutputs: O\n"),
            "w.yaml:3:10: 'outputs' is a value; expected a list");
  EXPECT_EQ(error_of("- a\n"), "w.yaml:1:1: a workload is a list; expected a mapping");
  EXPECT_THAT(error_of(""), HasSubstr("a workload is nothing; expected a mapping"));
  EXPECT_EQ(error_of("name: my op\ncompute: O[i<1] = f32(1)\noutputs: [O]\n"),
            "w.yaml:1:7: 'my op' is not a name; expected letters, digits and '_', beginning with a letter");
  EXPECT_EQ(error_of("name: w\ncompute: |\n  # nothing\noutputs: [O]\n"),
            "w.yaml:3:13: expected a statement; expected: O[i<n] = expression");
  EXPECT_EQ(error_of("name: w\n---\nname: v\n"),
            "w.yaml:2:1: a second YAML document begins here; expected one document in a file");
}

std::string with_input(const std::string& input) {
  return "name: w\nparams: {n: 4, t: f32}\ninputs:\n  X: " + input +
         "\ncompute: O[i<n] = X[i]\noutputs: [O]\n";
}

TEST(DefinitionErrors, Inputs) {
  EXPECT_EQ(error_of(with_input("{shap: [n], dtype: t}")),
            "w.yaml:4:7: an input has no key 'shap'; did you mean 'shape'?");
  EXPECT_EQ(error_of(with_input("{dtype: t}")),
            "w.yaml:4:3: input 'X' needs a 'shape'; expected shape: [n, m]");
  EXPECT_EQ(error_of(with_input("{shape: [n]}")),
            "w.yaml:4:3: input 'X' needs a 'dtype'; expected dtype: f32");
  EXPECT_EQ(error_of(with_input("{shape: n, dtype: t}")), "w.yaml:4:14: 'shape' is a value; expected a list");
  EXPECT_EQ(error_of(with_input("{shape: [], dtype: t}")),
            "w.yaml:4:14: 'X' has 0 dimensions; expected 1 to 8");
  EXPECT_EQ(error_of(with_input("{shape: [n], dtype: f33}")),
            "w.yaml:4:26: 'f33' is not a data type; did you mean 'f32'?");
  EXPECT_EQ(error_of(with_input("{shape: [n], dtype: bfloat16}")),
            "w.yaml:4:26: 'bfloat16' is not a data type; did you mean 'bf16'?");
  EXPECT_EQ(error_of(with_input("{shape: [n], dtype: n}")),
            "w.yaml:4:26: expected a data type for a 'dtype', found an integer");
  EXPECT_EQ(error_of(with_input("{shape: [n - 4], dtype: t}")),
            "w.yaml:4:15: the extent of dimension 1 of 'X' is 0 (n=4); expected 1 to 2^34");
  EXPECT_EQ(error_of(with_input("{shape: [q], dtype: t}")), "w.yaml:4:15: 'q' is not defined; known: n, t");
  EXPECT_EQ(error_of(with_input("{shape: [t], dtype: t}")),
            "w.yaml:4:15: expected an integer for an extent, found a data type");
  EXPECT_EQ(
      error_of(with_input("{shape: [n], dtype: t, constant: t}")),
      "w.yaml:4:39: 'constant' is a data type; expected true, false, or an integer where 0 means false");
  EXPECT_EQ(error_of(with_input("[n]")), "w.yaml:4:6: input 'X' is a list; expected a mapping");
  EXPECT_EQ(error_of(with_input("{shape: [n], dtype: t}\n  Y: {shape: [n], dtype: t}")),
            "w.yaml:5:3: input 'Y' is never read; remove it");
}

std::string with_params(const std::string& params) {
  return "name: w\nparams: " + params +
         "\ninputs: {X: {shape: [4], dtype: f32}}\ncompute: O[i<4] = X[i]\noutputs: [O]\n";
}

TEST(DefinitionErrors, Parameters) {
  EXPECT_EQ(error_of(with_params("{n: 0.5}")),
            "w.yaml:2:13: 'n' is a number with a fraction; expected an integer or a data type");
  EXPECT_EQ(error_of(with_params("{n: m, m: 4}")), "w.yaml:2:13: 'm' is not defined");
  EXPECT_EQ(error_of(with_params("{n: [4]}")), "w.yaml:2:13: 'n' is a list; expected a value");
  EXPECT_EQ(error_of(with_params("{n: }")), "w.yaml:2:10: 'n' is nothing; expected a value");
  EXPECT_EQ(error_of(with_params("{f32: 4}")), "w.yaml:2:10: 'f32' is a keyword; choose another name");
  EXPECT_EQ(error_of(with_params("{X: 4}")),
            "w.yaml:3:10: 'X' is already a parameter in line 2; choose another name");
  EXPECT_EQ(error_of(with_params("{a-b: 4}")),
            "w.yaml:2:10: 'a-b' is not a name; expected letters, digits and '_', beginning with a letter");
  EXPECT_EQ(error_of(with_params("{n: 3 +}")), "w.yaml:2:16: expected a value, found end of text");
  EXPECT_EQ(error_of(with_params("{n: sum(k<3) k}")),
            "w.yaml:2:13: the reduction 'sum' is not allowed here; expected numbers and parameters");
  EXPECT_EQ(error_of(with_params("{n: 3}\nrequire: [n % 2 == 0]")),
            "w.yaml:3:11: w requires n % 2 == 0; here n=3");
  EXPECT_EQ(error_of(with_params("{n: 3}\nrequire: [n]")),
            "w.yaml:3:11: 'n' is an integer; expected a condition: a % b == 0");
  EXPECT_EQ(error_of(with_params("{n: 3}"), {{"m", "3"}}), "w has no parameter 'm'; known: n");
}

TEST(LanguageErrors, Strides) {
  const auto of = [](const std::string& strides) {
    return error_of(
        "name: t\ninputs: {X: {shape: [2, 3], dtype: f32}}\ncompute: |\n  Y[i<2, j<3] = X[i, j]\n  Z[j<3] = "
        "Y[0, j]\n"
        "outputs: [Y, Z]\nstrides: {" +
        strides + "}\n");
  };
  EXPECT_EQ(of("Q: [3, 1]"), "w.yaml:7:11: 'Q' is neither an input nor an output; known: X, Y, Z");
  EXPECT_EQ(of("X: [3]"), "w.yaml:7:11: 'X' has 2 dimensions; expected a stride for each");
  EXPECT_EQ(of("Z: [2]"), "w.yaml:7:11: 'Z' has 1 dimensions; an array of one dimension has no strides");
  EXPECT_EQ(
      of("Y: [2, 1]"),
      "w.yaml:7:15: a stride of 2 for dimension 1 of 'Y'; expected at least 3, which the dimensions behind "
      "it take");
  EXPECT_EQ(
      of("Y: [9, 0]"),
      "w.yaml:7:18: a stride of 0 for dimension 2 of 'Y'; expected at least 1, which the dimensions behind "
      "it take");
  EXPECT_EQ(of("Y: [9000000000, 1]"), "w.yaml:7:15: 'Y' spans too many elements; at most 2^34 are accepted");
}

}  // namespace
}  // namespace tunesmith
