// wgmma m64nNk16, f16 or bf16 from shared memory with the 128-byte swizzle. Register 4 j + r of lane t of the
// warpgroup holds row 16 (t / 32) + (t % 32) / 4 + 8 (r >> 1), column 8 j + 2 (t % 4) + (r & 1) of D.
//
// A matrix descriptor, in units of 16 bytes: bits 0-13 start, 16-29 leading offset, 32-45 stride; bits 62-63:
// the swizzle, 1 for 128 bytes. The byte offset of element (mn, k) from the start, if rows run along k:
//   128 (mn % 8) + stride (mn / 8) + 2 k
// and if rows run along mn:
//   2 (mn % 64) + leading (mn / 64) + 128 (k % 8) + stride (k / 8)
// Bits 7-9 of the address are then XORed into bits 4-6.
#include <cstring>

#include "arithmetic.h"
#include "checker.h"
#include "collective.h"

namespace tunesmith_emulation {
namespace {

constexpr unsigned kWgmmaRows = 64, kWgmmaDepth = 16, kMaxColumns = 256, kChunk = 16;

// The aligned 16 bytes that contain the result hold the element's neighbours.
unsigned element_address(unsigned long long descriptor, unsigned mn, unsigned k, bool along_mn) {
  const auto field = [&](unsigned bit) { return unsigned(descriptor >> bit & 0x3fff) << 4; };
  const unsigned start = field(0), leading = field(16), stride = field(32);
  const unsigned address =
      start + (along_mn ? 2 * (mn % 64) + leading * (mn / 64) + 128 * (k % 8) + stride * (k / 8)
                        : 128 * (mn % 8) + stride * (mn / 8) + 2 * k);
  return address ^ (address >> 7 & 7) << 4;
}

const char* operand_address(const PendingProduct& product, unsigned long long descriptor, unsigned mn,
                            unsigned k, bool along_mn) {
  if (descriptor >> 62 != 1)
    report_and_stop(Kind::BadOperand, "wgmma of line %d: only the 128-byte swizzle is emulated",
                    product.line);
  const char* address =
      static_cast<const char*>(shared_pointer(element_address(descriptor, mn, k, along_mn)));
  if (address < shared_memory.low || address + 2 > shared_memory.high)
    report_and_stop(Kind::OutOfBounds, "wgmma of line %d: an operand lies outside of shared memory",
                    product.line);
  return address;
}

/// The chunks of an operand of `length` rows or columns.
template <class Visit>
void each_chunk_of(const PendingProduct& product, unsigned long long descriptor, unsigned length,
                   bool along_mn, Visit visit) {
  for (unsigned mn = 0; mn < length; mn += along_mn ? 8 : 1) {
    for (unsigned k = 0; k < kWgmmaDepth; k += along_mn ? 1 : 8) {
      const char* element = operand_address(product, descriptor, mn, k, along_mn);
      visit(element - reinterpret_cast<uintptr_t>(element) % kChunk);
    }
  }
}

template <class Visit>
void each_chunk(const PendingProduct& product, Visit visit) {
  each_chunk_of(product, product.a, kWgmmaRows, product.a_column_major, visit);
  each_chunk_of(product, product.b, product.columns, product.b_row_major, visit);
}

const PendingProduct& product_of(unsigned first, unsigned lane) {
  return *static_cast<const PendingProduct*>(machine.threads[first + lane].operand);
}

// All 128 threads have left their product: forms it in their accumulators.
void form(unsigned first) {
  static uint16_t a_halves[kWgmmaRows * kWgmmaDepth], b_halves[kWgmmaDepth * kMaxColumns];
  static float a[kWgmmaRows * kWgmmaDepth], b[kWgmmaDepth * kMaxColumns], c[kWgmmaRows * kMaxColumns];
  const PendingProduct& product = product_of(first, 0);
  const unsigned columns = product.columns;
  for (unsigned lane = 0; lane < kWarpgroup; ++lane) {
    const PendingProduct& other = product_of(first, lane);
    if (other.a != product.a || other.b != product.b || other.accumulate != product.accumulate)
      report_and_stop(Kind::BadOperand,
                      "wgmma of line %d: the threads of a warpgroup give different descriptors",
                      product.line);
  }
  for (unsigned row = 0; row < kWgmmaRows; ++row)
    for (unsigned k = 0; k < kWgmmaDepth; ++k)
      std::memcpy(&a_halves[row * kWgmmaDepth + k],
                  operand_address(product, product.a, row, k, product.a_column_major), 2);
  for (unsigned k = 0; k < kWgmmaDepth; ++k)
    for (unsigned column = 0; column < columns; ++column)
      std::memcpy(&b_halves[k * columns + column],
                  operand_address(product, product.b, column, k, product.b_row_major), 2);
  const auto values_of = product.bf16 ? bf16_values : f16_values;
  values_of(a_halves, a, kWgmmaRows * kWgmmaDepth);
  values_of(b_halves, b, kWgmmaDepth * columns);
  const auto each_accumulator = [&](auto visit) {
    for (unsigned lane = 0; lane < kWarpgroup; ++lane) {
      float* registers = product_of(first, lane).accumulators;
      const unsigned row = 16 * (lane / kWarp) + lane % kWarp / 4, column = 2 * (lane % 4);
      for (unsigned i = 0; i < columns / 2; ++i)
        visit(c[(row + 8 * (i >> 1 & 1)) * columns + 8 * (i / 4) + column + (i & 1)], registers[i]);
    }
  };
  each_accumulator([&](float& element, const float& held) { element = product.accumulate ? held : 0.0f; });
  multiply_add(c, a, b, kWgmmaRows, kWgmmaDepth, columns);
  each_accumulator([](const float& element, float& held) { held = element; });
}

}  // namespace

unsigned shared_address(const void* pointer) {
  // The swizzle depends on addresses: the base is a multiple of 1024. The system's 1024 bytes come first.
  const char* base = shared_memory.low - reinterpret_cast<uintptr_t>(shared_memory.low) % 1024;
  return unsigned(static_cast<const char*>(pointer) - base) + 1024;
}

void* shared_pointer(unsigned address) {
  return shared_memory.low - reinterpret_cast<uintptr_t>(shared_memory.low) % 1024 +
         (std::ptrdiff_t(address) - 1024);
}

void multiply_group(float* accumulators, unsigned columns, unsigned long long a, unsigned long long b,
                    bool a_column_major, bool b_row_major, bool accumulate, bool bf16, int line) {
  Thread& thread = running();
  if (!thread.products_fenced) {
    report(Kind::MissingProductFence,
           "wgmma of line %d: thread %u could access the sums, and has executed no wgmma.fence since", line,
           thread.id);
  }
  const PendingProduct product{accumulators, a,          b,    columns, a_column_major,
                               b_row_major,  accumulate, bf16, line};
  thread.products.issue(product);
  // One thread stands for the warpgroup: its reads are the instruction's.
  if (checks_on() && thread.id % kWarpgroup == 0)
    each_chunk(product, [&](const char* chunk) { begin_async_read(thread, chunk, kChunk); });
}

void fence_products() { running().products_fenced = true; }

void commit_products() { running().products.commit(); }

void wait_for_products(unsigned groups, int line) {
  Thread& thread = running();
  thread.products.wait(groups, [&](PendingProduct& product) {
    if (arrive_in_warpgroup("wgmma.wait_group", line, &product)) {
      form(thread.id / kWarpgroup * kWarpgroup);
      release_warpgroup();
    } else {
      wait_in("wgmma.wait_group", line);
    }
    if (checks_on() && thread.id % kWarpgroup == 0)
      each_chunk(product, [&](const char* chunk) { end_async_read(thread, chunk, kChunk); });
  });
  if (thread.products.issued.empty()) thread.products_fenced = false;
}

void fence_async_proxy() { ++running().proxy_fences; }

}  // namespace tunesmith_emulation
