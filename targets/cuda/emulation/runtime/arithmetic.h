// Array arithmetic for matrix instructions, compiled for several host
// processors; the version for the running processor is selected.
#pragma once

#include <cstdint>

namespace tunesmith_emulation {

/// Converts `count` 16-bit floats to f32.
void f16_values(const void* from, float* to, unsigned count);
void bf16_values(const void* from, float* to, unsigned count);
/// Rounds `count` f32 words to TF32 (10 bits of mantissa).
void tf32_values(const void* from, float* to, unsigned count);
void s8_values(const void* from, int* to, unsigned count);

/// c[i][j] += a[i][k] b[k][j], dense and row-major. `rows` is a multiple
/// of 4, `columns` of 8. Products are summed in the order of k.
void multiply_add(float* c, const float* a, const float* b, unsigned rows, unsigned depth, unsigned columns);
void multiply_add(int* c, const int* a, const int* b, unsigned rows, unsigned depth, unsigned columns);

}  // namespace tunesmith_emulation
