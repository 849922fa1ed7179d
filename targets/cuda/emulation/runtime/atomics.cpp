// Atomic operations. Fibers are never preempted, so plain operations suffice.
#include <algorithm>

#include "checker.h"

namespace tunesmith_emulation {
namespace {

template <class T, class Update>
T update(T* to, Update next, bool reads = true) {
  check_atomic(to, sizeof(T), reads);
  const T old = *to;
  *to = next(old);
  return old;
}

}  // namespace

float atomic_add(float* to, float value) {
  return update(to, [=](float old) { return old + value; });
}
int atomic_add(int* to, int value) {
  return update(to, [=](int old) { return int(unsigned(old) + unsigned(value)); });
}
unsigned atomic_add(unsigned* to, unsigned value) {
  return update(to, [=](unsigned old) { return old + value; });
}
int atomic_max(int* to, int value) {
  return update(to, [=](int old) { return std::max(old, value); });
}
int atomic_min(int* to, int value) {
  return update(to, [=](int old) { return std::min(old, value); });
}
unsigned atomic_exchange(unsigned* to, unsigned value) {
  // Kernels also initialise memory this way and ignore the result, so the old value may be uninitialised.
  return update(to, [=](unsigned) { return value; }, false);
}
unsigned atomic_compare_and_swap(unsigned* to, unsigned expected, unsigned value) {
  return update(to, [=](unsigned old) { return old == expected ? value : old; });
}

}  // namespace tunesmith_emulation
