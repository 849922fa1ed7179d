// A warp's instructions, compared with a naive product. The places of elements follow the vendor's tables,
// written here as lists of bits, independently of the emulation.
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/float16.h"
#include "emulation_run.h"
#include "tunesmith/support/random.h"

namespace tunesmith::testing {
namespace {

using tunesmith_emulation::bf16_to_f32;
using tunesmith_emulation::f16_to_f32;
using tunesmith_emulation::f32_to_bf16;
using tunesmith_emulation::f32_to_f16;

/// The bits of a place, least significant first: l for the lane, r for the register, h for the element in it.
using Bits = std::vector<const char*>;

unsigned coordinate(const Bits& bits, unsigned lane, unsigned reg, unsigned element) {
  unsigned value = 0;
  for (size_t i = 0; i < bits.size(); ++i) {
    const unsigned of = bits[i][0] == 'l' ? lane : bits[i][0] == 'r' ? reg : element;
    value |= (of >> (bits[i][1] - '0') & 1u) << i;
  }
  return value;
}

struct Fragment {
  unsigned registers, elements;
  Bits row, column;
  unsigned columns;  // of the matrix

  /// For each lane, register and element in it: its number in the row-major matrix.
  std::vector<int> places() const {
    std::vector<int> numbers;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned reg = 0; reg < registers; ++reg)
        for (unsigned element = 0; element < elements; ++element)
          numbers.push_back(
              int(coordinate(row, lane, reg, element) * columns + coordinate(column, lane, reg, element)));
    return numbers;
  }
};

struct Instruction {
  const char* name;
  const char* element;  // of the operands in memory
  const char* accumulator;
  unsigned depth;
  Fragment a, b;  // b as depth x 8
};

const Fragment kAccumulators{4, 1, {"l2", "l3", "l4", "r1"}, {"r0", "l0", "l1"}, 8};

std::vector<Instruction> instructions() {
  return {
      {"mma_m16n8k16",
       "f16",
       "float",
       16,
       {4, 2, {"l2", "l3", "l4", "r0"}, {"h0", "l0", "l1", "r1"}, 16},
       {2, 2, {"h0", "l0", "l1", "r0"}, {"l2", "l3", "l4"}, 8}},
      {"mma_m16n8k8",
       "f16",
       "float",
       8,
       {2, 2, {"l2", "l3", "l4", "r0"}, {"h0", "l0", "l1"}, 8},
       {1, 2, {"h0", "l0", "l1"}, {"l2", "l3", "l4"}, 8}},
      {"mma_m16n8k16_bf16",
       "bf16",
       "float",
       16,
       {4, 2, {"l2", "l3", "l4", "r0"}, {"h0", "l0", "l1", "r1"}, 16},
       {2, 2, {"h0", "l0", "l1", "r0"}, {"l2", "l3", "l4"}, 8}},
      {"mma_m16n8k8_tf32",
       "tf32",
       "float",
       8,
       {4, 1, {"l2", "l3", "l4", "r0"}, {"l0", "l1", "r1"}, 8},
       {2, 1, {"l0", "l1", "r0"}, {"l2", "l3", "l4"}, 8}},
      {"mma_m16n8k32_s8",
       "s8",
       "int",
       32,
       {4, 4, {"l2", "l3", "l4", "r0"}, {"h0", "h1", "l0", "l1", "r1"}, 32},
       {2, 4, {"h0", "h1", "l0", "l1", "r0"}, {"l2", "l3", "l4"}, 8}},
      {"mma_m16n8k16_s8",
       "s8",
       "int",
       16,
       {2, 4, {"l2", "l3", "l4", "r0"}, {"h0", "h1", "l0", "l1"}, 16},
       {1, 4, {"h0", "h1", "l0", "l1"}, {"l2", "l3", "l4"}, 8}},
  };
}

/// Numbers that the type represents exactly, and their bits in registers.
struct Operand {
  std::vector<double> values;
  std::vector<unsigned char> bytes;
};

Operand operand(const std::string& type, size_t count, uint64_t seed) {
  Operand result;
  RandomStream random(seed);
  const auto append = [&](auto bits) {
    const std::vector<unsigned char> bytes = bytes_of(std::vector{bits});
    result.bytes.insert(result.bytes.end(), bytes.begin(), bytes.end());
  };
  for (size_t i = 0; i < count; ++i) {
    const float real = float(2 * random.uniform() - 1);
    if (type == "f16") {
      append(f32_to_f16(real));
      result.values.push_back(double(f16_to_f32(f32_to_f16(real))));
    } else if (type == "bf16") {
      append(f32_to_bf16(real));
      result.values.push_back(double(bf16_to_f32(f32_to_bf16(real))));
    } else if (type == "tf32") {
      append(real);
      // The unit takes the upper 19 bits.
      result.values.push_back(double(
          std::ldexp(std::trunc(std::ldexp(double(real), 10 - std::ilogb(real))), std::ilogb(real) - 10)));
    } else {
      append(static_cast<signed char>(int(random.below(256)) - 128));
      result.values.push_back(double(static_cast<signed char>(result.bytes.back())));
    }
  }
  return result;
}

const char* storage(const std::string& type) {
  return type == "s8" ? "unsigned char" : type == "tf32" ? "unsigned" : "unsigned short";
}

TEST(Collectives, EachMmaIsTheNaiveProductOfWhatTheTablesPlace) {
  for (const Instruction& one : instructions()) {
    const Operand a = operand(one.element, size_t(16) * one.depth, 1),
                  b = operand(one.element, size_t(one.depth) * 8, 2);
    const std::string text = fmt::format(
        R"(#include "tunesmith_device.cuh"
extern "C" __global__ void test(const {storage}* A, const {storage}* B, {acc}* C, const int* pa, const int* pb, const int* pc) {{
  const int lane = threadIdx.x;
  unsigned a[{ra}] = {{}}, b[2] = {{}};
  for (int r = 0; r < {ra}; r++)
    for (int h = 0; h < {e}; h++) a[r] |= unsigned(A[pa[(lane * {ra} + r) * {e} + h]]) << (32 / {e} * h);
  for (int r = 0; r < {rb}; r++)
    for (int h = 0; h < {e}; h++) b[r] |= unsigned(B[pb[(lane * {rb} + r) * {e} + h]]) << (32 / {e} * h);
  {acc} d[4];
  for (int r = 0; r < 4; r++) d[r] = pc[lane * 4 + r];
  {name}(d, a, {operands});
  for (int r = 0; r < 4; r++) C[pc[lane * 4 + r]] = d[r];
}})",
        fmt::arg("storage", storage(one.element)), fmt::arg("acc", one.accumulator),
        fmt::arg("ra", one.a.registers), fmt::arg("rb", one.b.registers), fmt::arg("e", one.a.elements),
        fmt::arg("name", one.name), fmt::arg("operands", one.b.registers == 2 ? "b[0], b[1]" : "b[0]"));
    std::vector<cuda::EmulatedArgument> arguments{buffer("A", a.bytes),
                                                  buffer("B", b.bytes),
                                                  output("C", size_t(16) * 8 * 4),
                                                  buffer("pa", bytes_of(one.a.places())),
                                                  buffer("pb", bytes_of(one.b.places())),
                                                  buffer("pc", bytes_of(kAccumulators.places()))};
    const cuda::EmulationReport report = run_text(text, arguments, 32);
    EXPECT_TRUE(report.clean()) << one.name << ": " << report.text();
    for (unsigned i = 0; i < 16; ++i) {
      for (unsigned j = 0; j < 8; ++j) {
        double expected = i * 8 + j;  // the accumulator's initial value
        for (unsigned k = 0; k < one.depth; ++k)
          expected += a.values[i * one.depth + k] * b.values[k * 8 + j];
        const double got = one.accumulator == std::string("int")
                               ? double(values_of<int>(arguments[2].bytes)[i * 8 + j])
                               : double(values_of<float>(arguments[2].bytes)[i * 8 + j]);
        ASSERT_NEAR(got, expected, one.accumulator == std::string("int") ? 0 : 1e-4)
            << one.name << " " << i << " " << j;
      }
    }
  }
}

TEST(Collectives, LdmatrixGivesEachLaneItsPair) {
  // Matrices of 8 rows of 8 numbers 100 m + 8 row + column; a lane has of matrix m row l / 4, columns 2 (l %
  // 4) and + 1.
  for (const unsigned count : {1u, 2u, 4u}) {
    for (const bool transposed : {false, true}) {
      const std::string text = fmt::format(R"(#include "tunesmith_device.cuh"
extern "C" __global__ void test(unsigned* out) {{
  __shared__ __align__(16) unsigned short rows[32][8];
  const int lane = threadIdx.x;
  for (int c = 0; c < 8; c++) rows[lane][c] = lane / 8 * 100 + lane % 8 * 8 + c;
  __syncthreads();
  unsigned r[{0}];
  ldmatrix_x{0}{1}(r, rows[lane]);
  for (int m = 0; m < {0}; m++) out[lane * {0} + m] = r[m];
}})",
                                           count, transposed ? "_trans" : "");
      std::vector<cuda::EmulatedArgument> arguments{output("out", size_t(32) * count * 4)};
      const cuda::EmulationReport report = run_text(text, arguments, 32);
      EXPECT_TRUE(report.clean()) << report.text();
      const std::vector<unsigned> got = values_of<unsigned>(arguments[0].bytes);
      for (unsigned lane = 0; lane < 32; ++lane) {
        for (unsigned m = 0; m < count; ++m) {
          const unsigned g = lane / 4, pair = 2 * (lane % 4);
          const unsigned low = transposed ? 100 * m + pair * 8 + g : 100 * m + g * 8 + pair;
          const unsigned high = transposed ? 100 * m + (pair + 1) * 8 + g : low + 1;
          ASSERT_EQ(got[lane * count + m], low | high << 16)
              << "x" << count << " lane " << lane << " matrix " << m;
        }
      }
    }
  }
}

TEST(Collectives, WmmaOfEachTypeAndOrderIsTheNaiveProduct) {
  struct Type {
    const char* element;
    const char* suffix;
    const char* cuda;
    unsigned registers;
    const char* accumulator;
  };
  const std::vector<Type> types{{"f16", "", "half_t", 8, "float"},
                                {"bf16", "_bf16", "half_t", 4, "float"},
                                {"s8", "_s8", "signed char", 2, "int"}};
  for (const Type& type : types) {
    for (const unsigned orders : {0u, 1u, 2u, 3u}) {
      const unsigned a_column = orders & 1, b_column = orders >> 1;
      const Operand a = operand(type.element, 256, 3), b = operand(type.element, 256, 4);
      const std::string text = fmt::format(R"(#include "tunesmith_device.cuh"
extern "C" __global__ void test(const {cuda}* A, const {cuda}* B, const {acc}* start, {acc}* C) {{
  unsigned a[{r}], b[{r}];
  {acc} c[8];
  wmma_load_a{s}<{ac}>(a, A, 16);
  wmma_load_b{s}<{bc}>(b, B, 16);
  wmma_load_c<0>(c, start, 16);
  wmma_mma{s}<{ac}, {bc}>(c, a, b);
  wmma_store<1>(C, c, 16);
}})",
                                           fmt::arg("cuda", type.cuda), fmt::arg("acc", type.accumulator),
                                           fmt::arg("r", type.registers), fmt::arg("s", type.suffix),
                                           fmt::arg("ac", a_column), fmt::arg("bc", b_column));
      const bool whole = type.accumulator == std::string("int");
      std::vector<int> start_whole(256);
      std::vector<float> start_real(256);
      for (int i = 0; i < 256; ++i) start_real[size_t(i)] = float(start_whole[size_t(i)] = i);
      std::vector<cuda::EmulatedArgument> arguments{
          buffer("A", a.bytes), buffer("B", b.bytes),
          buffer("start", whole ? bytes_of(start_whole) : bytes_of(start_real)), output("C", 1024)};
      const cuda::EmulationReport report = run_text(text, arguments, 32);
      EXPECT_TRUE(report.clean()) << report.text();
      for (unsigned i = 0; i < 16; ++i) {
        for (unsigned j = 0; j < 16; ++j) {
          double expected = i * 16 + j;
          for (unsigned k = 0; k < 16; ++k)
            expected += a.values[a_column != 0 ? k * 16 + i : i * 16 + k] *
                        b.values[b_column != 0 ? j * 16 + k : k * 16 + j];
          const size_t at = size_t(j) * 16 + i;  // stored column by column
          const double got = whole ? double(values_of<int>(arguments[3].bytes)[at])
                                   : double(values_of<float>(arguments[3].bytes)[at]);
          ASSERT_NEAR(got, expected, whole ? 0 : 1e-4)
              << type.element << " " << orders << " " << i << " " << j;
        }
      }
    }
  }
}

TEST(Collectives, ShufflesAndVotesAreThoseOfTheManual) {
  const std::string text = R"(
extern "C" __global__ void test(int* out) {
  const int lane = threadIdx.x;
  out[lane] = __shfl_sync(0xffffffffu, lane * 10, 5);
  out[32 + lane] = __shfl_sync(0xffffffffu, lane * 10, lane + 1, 8);
  out[64 + lane] = __shfl_up_sync(0xffffffffu, lane * 10, 3, 16);
  out[96 + lane] = __shfl_down_sync(0xffffffffu, lane * 10, 3);
  out[128 + lane] = __shfl_xor_sync(0xffffffffu, lane * 10, 7);
  out[160 + lane] = __ballot_sync(0xffffffffu, lane % 3 == 0);
  out[192 + lane] = __any_sync(0xffffffffu, lane == 31) * 2 + __all_sync(0xffffffffu, lane < 31);
  // Each half of the warp for itself.
  out[224 + lane] = lane < 16 ? __shfl_sync(0x0000ffffu, lane, 3) : __shfl_sync(0xffff0000u, lane, 20);
})";
  std::vector<cuda::EmulatedArgument> arguments{output("out", size_t(256) * 4)};
  const cuda::EmulationReport report = run_text(text, arguments, 32);
  EXPECT_TRUE(report.clean()) << report.text();
  const std::vector<int> got = values_of<int>(arguments[0].bytes);
  for (int lane = 0; lane < 32; ++lane) {
    const auto of = [&](int part) { return got[size_t(part * 32 + lane)]; };
    EXPECT_EQ(of(0), 50);
    EXPECT_EQ(of(1), (lane / 8 * 8 + (lane + 1) % 8) * 10);
    EXPECT_EQ(of(2), lane % 16 < 3 ? lane * 10 : (lane - 3) * 10);
    EXPECT_EQ(of(3), lane + 3 > 31 ? lane * 10 : (lane + 3) * 10);
    EXPECT_EQ(of(4), (lane ^ 7) * 10);
    EXPECT_EQ(unsigned(of(5)), 0x49249249u);
    EXPECT_EQ(of(6), 2);
    EXPECT_EQ(of(7), lane < 16 ? 3 : 20);
  }
}

TEST(Collectives, SixteenBitNumbersAreRoundedToNearestEven) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float exact = f16_to_f32(uint16_t(bits));
    if (std::isnan(exact)) continue;
    ASSERT_EQ(f32_to_f16(exact), bits);
    // Between a number and the next away from zero: below the middle, the middle, above it.
    const float next = f16_to_f32(uint16_t(bits + 1));
    if (std::isinf(exact) || !std::isfinite(next) || (bits & 0x7fff) == 0x7fff) continue;
    const float middle = exact + (next - exact) / 2;
    ASSERT_EQ(f32_to_f16(middle), (bits & 1) == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, exact)), bits) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, next)), bits + 1) << bits;
  }
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(65519.0f), 0x7bff);
  EXPECT_EQ(f16_to_f32(0x0001), 0x1p-24f);
  EXPECT_EQ(f32_to_bf16(1.00390625f), 0x3f80);  // 1 + 2^-8 is in the middle
  EXPECT_EQ(f32_to_bf16(1.01171875f), 0x3f82);
}

}  // namespace
}  // namespace tunesmith::testing
