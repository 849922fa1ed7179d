// wmma 16x16x16. The layout of a fragment is unspecified. Here it differs from mma.sync's, and between the
// storage orders: a kernel that assumes a layout, or loads in one order and multiplies in the other, computes
// wrong results.
#include <cstring>

#include "arithmetic.h"
#include "checker.h"
#include "collective.h"

namespace tunesmith_emulation {
namespace {

constexpr unsigned kSide = 16, kSlots = 8;

// Maps element `slot` of a lane to its number in the 16x16 matrix. Exclusive or keeps the mapping one to one.
unsigned element_of(unsigned lane, unsigned slot, bool column) {
  const unsigned mixed = slot * 5 + (column ? 19u : 2u);
  return slot * kWarp + ((lane ^ mixed) & (kWarp - 1));
}

size_t bytes_of(FragmentType type) { return type == FragmentType::S8 ? 1 : 2; }

void check_tile(const char* what, int line, const void* memory, unsigned stride, size_t element_bytes) {
  const size_t row_bytes = size_t(stride) * element_bytes;
  if (reinterpret_cast<uintptr_t>(memory) % 32 != 0 || row_bytes % 16 != 0) {
    report_and_stop(Kind::BadOperand,
                    "%s of line %d: thread %u: the tile must begin at a multiple of 32 bytes, and its rows "
                    "at multiples of 16",
                    what, line, running().id);
  }
}

const char* element_address(const void* memory, unsigned stride, bool column, unsigned element,
                            size_t bytes) {
  const unsigned row = element / kSide, col = element % kSide;
  return static_cast<const char*>(memory) + size_t(column ? col * stride + row : row * stride + col) * bytes;
}

struct Fragments {
  void* accumulators;
  const unsigned* a;
  const unsigned* b;
};

// The factor in memory order, from the lanes' registers.
template <class Element>
void gather(LaneOperands<Fragments>& lanes, const unsigned* Fragments::* registers, bool column,
            Element* to) {
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    Element own[kSlots];
    std::memcpy(own, (*lanes[lane]).*registers, sizeof own);
    for (unsigned slot = 0; slot < kSlots; ++slot) to[element_of(lane, slot, column)] = own[slot];
  }
}

template <class Value>
void multiply_add_lanes(LaneOperands<Fragments>& lanes, const Value* a, const Value* b) {
  Value c[kSide * kSide];
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (unsigned slot = 0; slot < kSlots; ++slot)
      c[element_of(lane, slot, false)] = static_cast<const Value*>(lanes[lane]->accumulators)[slot];
  multiply_add(c, a, b, kSide, kSide, kSide);
  for (unsigned lane = 0; lane < kWarp; ++lane)
    for (unsigned slot = 0; slot < kSlots; ++slot)
      static_cast<Value*>(lanes[lane]->accumulators)[slot] = c[element_of(lane, slot, false)];
}

template <class Element, class Value>
void multiply_lanes(LaneOperands<Fragments>& lanes, void (*values)(const void*, Value*, unsigned),
                    bool a_column, bool b_column) {
  Element elements[kSide * kSide];
  Value a[kSide * kSide], b[kSide * kSide];
  gather(lanes, &Fragments::a, a_column, elements);
  values(elements, a, kSide * kSide);
  gather(lanes, &Fragments::b, b_column, elements);
  values(elements, b, kSide * kSide);
  multiply_add_lanes(lanes, a, b);
}

// All lanes together provide one tile.
void meet(const char* what, int line, const void* memory, unsigned stride) {
  struct Tile {
    const void* memory;
    unsigned stride;
  } mine{memory, stride};
  in_whole_warp(what, line, mine, [&](LaneOperands<Tile>& lanes) {
    for (const Tile* lane : lanes) {
      if (lane->memory != lanes[0]->memory || lane->stride != lanes[0]->stride)
        report_and_stop(Kind::BadOperand, "%s of line %d: the lanes of warp %u give different tiles", what,
                        line, running().warp());
    }
  });
}

}  // namespace

void load_fragment(FragmentType type, unsigned* registers, const void* memory, unsigned stride, bool column,
                   int line) {
  const size_t bytes = bytes_of(type);
  check_tile("wmma.load", line, memory, stride, bytes);
  const Thread& thread = running();
  char elements[2 * kSlots];
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    const char* address =
        element_address(memory, stride, column, element_of(thread.lane(), slot, column), bytes);
    check_read(thread, address, bytes);
    std::memcpy(elements + slot * bytes, address, bytes);
  }
  std::memcpy(registers, elements, kSlots * bytes);
  // The hardware's fragments of f16 hold each element twice.
  if (type == FragmentType::F16) std::memcpy(registers + 4, elements, kSlots * bytes);
  meet("wmma.load", line, memory, stride);
}

void multiply_fragments(FragmentType type, void* accumulators, const unsigned* a, const unsigned* b,
                        bool a_column, bool b_column, int line) {
  Fragments mine{accumulators, a, b};
  in_whole_warp("wmma.mma", line, mine, [=](LaneOperands<Fragments>& lanes) {
    switch (type) {
      case FragmentType::F16:
        return multiply_lanes<unsigned short>(lanes, f16_values, a_column, b_column);
      case FragmentType::Bf16:
        return multiply_lanes<unsigned short>(lanes, bf16_values, a_column, b_column);
      case FragmentType::S8:
        return multiply_lanes<signed char>(lanes, s8_values, a_column, b_column);
    }
  });
}

void load_accumulators(void* accumulators, const void* memory, unsigned stride, bool column, int line) {
  check_tile("wmma.load", line, memory, stride, 4);
  const Thread& thread = running();
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    const char* address = element_address(memory, stride, column, element_of(thread.lane(), slot, false), 4);
    check_read(thread, address, 4);
    std::memcpy(static_cast<char*>(accumulators) + size_t(4) * slot, address, 4);
  }
  meet("wmma.load", line, memory, stride);
}

void store_accumulators(void* memory, const void* accumulators, unsigned stride, bool column, int line) {
  check_tile("wmma.store", line, memory, stride, 4);
  meet("wmma.store", line, memory, stride);
  const Thread& thread = running();
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    char* address =
        const_cast<char*>(element_address(memory, stride, column, element_of(thread.lane(), slot, false), 4));
    check_write(thread, address, 4);
    std::memcpy(address, static_cast<const char*>(accumulators) + size_t(4) * slot, 4);
  }
}

}  // namespace tunesmith_emulation
