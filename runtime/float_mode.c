#include "tunesmith/runtime/pool.h"

#if defined(__x86_64__)

/* A mode has MXCSR in its low half, without the six sticky exception flags in its lowest bits, and the x87
 * control word in its high half. */
static const uint32_t kOccurred = 0x3f;
static const uint32_t kDefaultVectors = 0x1f80;
static const uint16_t kDefaultUnit = 0x37f;

static uint32_t vectors_now(void) {
  uint32_t now;
  __asm__ volatile("stmxcsr %0" : "=m"(now));
  return now;
}

static uint16_t unit_now(void) {
  uint16_t now;
  __asm__ volatile("fnstcw %0" : "=m"(now));
  return now;
}

uint64_t tunesmith_runtime_float_mode(void) {
  return (uint64_t)unit_now() << 32 | (vectors_now() & ~kOccurred);
}

void tunesmith_runtime_set_float_mode(uint64_t mode) {
  const uint32_t now = vectors_now();
  const uint32_t vectors = (uint32_t)mode | (now & kOccurred);
  const uint16_t unit = (uint16_t)(mode >> 32);
  if (vectors != now) __asm__ volatile("ldmxcsr %0" : : "m"(vectors));
  if (unit != unit_now()) __asm__ volatile("fldcw %0" : : "m"(unit));
}

uint64_t tunesmith_runtime_default_float_mode(void) { return (uint64_t)kDefaultUnit << 32 | kDefaultVectors; }

#elif defined(__aarch64__)

uint64_t tunesmith_runtime_float_mode(void) {
  uint64_t now;
  __asm__ volatile("mrs %0, fpcr" : "=r"(now));
  return now;
}

void tunesmith_runtime_set_float_mode(uint64_t mode) {
  if (mode != tunesmith_runtime_float_mode()) __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

uint64_t tunesmith_runtime_default_float_mode(void) { return 0; }

#else

uint64_t tunesmith_runtime_float_mode(void) { return 0; }
void tunesmith_runtime_set_float_mode(uint64_t mode) { (void)mode; }
uint64_t tunesmith_runtime_default_float_mode(void) { return 0; }

#endif
