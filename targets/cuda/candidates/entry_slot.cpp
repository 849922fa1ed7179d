#include "candidates/entry_slot.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

// One function for each candidate that may be loaded at a time, which finds the candidate by its own number.
constexpr size_t kSlots = 256;
std::array<BufferCall*, kSlots> slots;
std::mutex slots_mutex;

template <size_t kSlot>
void entry_of(void* const* buffers, void* workspace, tunesmith_parallel_for /*parallel_for*/,
              void* /*pool*/) {
  slots[kSlot]->call(buffers, workspace);
}

template <size_t... kSlot>
constexpr std::array<tunesmith_kernel, kSlots> make_entries(std::index_sequence<kSlot...> /*slots*/) {
  return {entry_of<kSlot>...};
}
constexpr std::array<tunesmith_kernel, kSlots> kEntries = make_entries(std::make_index_sequence<kSlots>());

}  // namespace

EntrySlot::EntrySlot(BufferCall& owner) {
  const std::lock_guard lock(slots_mutex);
  const auto free = std::find(slots.begin(), slots.end(), nullptr);
  if (free == slots.end())
    throw EnvironmentError(fmt::format("more than {} candidates are loaded at once", kSlots));
  *free = &owner;
  slot_ = static_cast<size_t>(free - slots.begin());
}

EntrySlot::~EntrySlot() {
  const std::lock_guard lock(slots_mutex);
  slots[slot_] = nullptr;
}

tunesmith_kernel EntrySlot::entry() const { return kEntries[slot_]; }

}  // namespace tunesmith::cuda
