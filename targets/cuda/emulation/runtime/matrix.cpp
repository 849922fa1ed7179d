// ldmatrix and mma.sync. With g = lane / 4 and q = lane % 4, and e elements to a register, lowest first:
//   A  register r, element h   row g + 8 (r & 1), column e q + h + 4 e (r >> 1)
//   B  register r, element h   row e q + h + 4 e r, column g
//   C  register r              row g + 8 (r >> 1), column 2 q + (r & 1)
//   ldmatrix  lane l gives the address of row l % 8 of matrix l / 8; register m receives from matrix m
//             row g, columns 2 q and 2 q + 1; transposed: rows 2 q and 2 q + 1, column g
#include <cstring>

#include "arithmetic.h"
#include "checker.h"
#include "collective.h"

namespace tunesmith_emulation {
namespace {

constexpr unsigned kRows = 16, kColumns = 8;

struct Multiplication {
  void* accumulators;
  const unsigned* a;
  const unsigned* b;
};

struct F16 {
  using Value = float;
  static constexpr unsigned kInWord = 2;
  static constexpr auto kValues = f16_values;
};
struct Bf16 {
  using Value = float;
  static constexpr unsigned kInWord = 2;
  static constexpr auto kValues = bf16_values;
};
struct Tf32 {
  using Value = float;
  static constexpr unsigned kInWord = 1;
  static constexpr auto kValues = tf32_values;
};
struct S8 {
  using Value = int;
  static constexpr unsigned kInWord = 4;
  static constexpr auto kValues = s8_values;
};

template <class Element, unsigned kRegistersOfA>
void multiply_lanes(LaneOperands<Multiplication>& lanes) {
  using Value = typename Element::Value;
  // A register is one word of a row of A, or of a column of B.
  constexpr unsigned kWords = 2 * kRegistersOfA, kDepth = kWords * Element::kInWord;
  unsigned a_words[kRows][kWords], b_words[kColumns][kWords];
  Value a[kRows * kDepth], b_columns[kColumns * kDepth], b[kDepth * kColumns], c[kRows * kColumns];
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    const unsigned g = lane / 4, q = lane % 4;
    const Multiplication& given = *lanes[lane];
    for (unsigned r = 0; r < kRegistersOfA; ++r) a_words[g + 8 * (r & 1)][q + 4 * (r >> 1)] = given.a[r];
    for (unsigned r = 0; r < kRegistersOfA / 2; ++r) b_words[g][q + 4 * r] = given.b[r];
    const Value* accumulators = static_cast<const Value*>(given.accumulators);
    for (unsigned r = 0; r < 4; ++r) c[(g + 8 * (r >> 1)) * kColumns + 2 * q + (r & 1)] = accumulators[r];
  }
  Element::kValues(a_words, a, kRows * kDepth);
  Element::kValues(b_words, b_columns, kColumns * kDepth);
  for (unsigned k = 0; k < kDepth; ++k)
    for (unsigned j = 0; j < kColumns; ++j) b[k * kColumns + j] = b_columns[j * kDepth + k];
  multiply_add(c, a, b, kRows, kDepth, kColumns);
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    Value* accumulators = static_cast<Value*>(lanes[lane]->accumulators);
    for (unsigned r = 0; r < 4; ++r)
      accumulators[r] = c[(lane / 4 + 8 * (r >> 1)) * kColumns + 2 * (lane % 4) + (r & 1)];
  }
}

struct MatrixLoad {
  unsigned* registers;
  const char* row;
};

unsigned half_at(const char* row, unsigned column) {
  unsigned short half;
  std::memcpy(&half, row + size_t(2) * column, 2);
  return half;
}

void load_lanes(LaneOperands<MatrixLoad>& lanes, unsigned count, bool transposed) {
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      const unsigned g = lane / 4, pair = 2 * (lane % 4);
      const auto row = [&](unsigned i) { return lanes[matrix * 8 + i]->row; };
      const unsigned low = transposed ? half_at(row(pair), g) : half_at(row(g), pair);
      const unsigned high = transposed ? half_at(row(pair + 1), g) : half_at(row(g), pair + 1);
      lanes[lane]->registers[matrix] = low | high << 16;
    }
  }
}

}  // namespace

void load_matrices(unsigned* registers, const void* row, unsigned count, bool transposed, int line) {
  const Thread& thread = running();
  if (thread.lane() < 8 * count) {  // of the other lanes the address is not used
    if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
      report_and_stop(
          Kind::BadOperand,
          "ldmatrix of line %d: thread %u gives a row that does not begin at a multiple of 16 bytes", line,
          thread.id);
    if (row < shared_memory.low || row >= shared_memory.high) {
      char place[128];
      describe_address(row, place, sizeof place);
      report_and_stop(Kind::OutOfBounds,
                      "ldmatrix of line %d: thread %u gives a row outside of shared memory, at %s", line,
                      thread.id, place);
    }
    check_read(thread, row, 16);
  }
  MatrixLoad mine{registers, static_cast<const char*>(row)};
  in_whole_warp("ldmatrix", line, mine,
                [=](LaneOperands<MatrixLoad>& lanes) { load_lanes(lanes, count, transposed); });
}

void multiply(Product product, void* accumulators, const unsigned* a, const unsigned* b, int line) {
  Multiplication mine{accumulators, a, b};
  in_whole_warp("mma", line, mine, [product](LaneOperands<Multiplication>& lanes) {
    switch (product) {
      case Product::F16m16n8k8:
        return multiply_lanes<F16, 2>(lanes);
      case Product::F16m16n8k16:
        return multiply_lanes<F16, 4>(lanes);
      case Product::Bf16m16n8k16:
        return multiply_lanes<Bf16, 4>(lanes);
      case Product::Tf32m16n8k8:
        return multiply_lanes<Tf32, 4>(lanes);
      case Product::S8m16n8k16:
        return multiply_lanes<S8, 2>(lanes);
      case Product::S8m16n8k32:
        return multiply_lanes<S8, 4>(lanes);
    }
  });
}

}  // namespace tunesmith_emulation
