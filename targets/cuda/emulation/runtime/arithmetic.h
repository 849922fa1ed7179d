// Arithmetic on arrays, for the matrix instructions: compiled for several processors, the running one's is
// taken.
#pragma once

#include <cstdint>

namespace tunesmith_emulation {

/// `count` elements of 16-bit floats, as f32.
void f16_values(const void* from, float* to, unsigned count);
void bf16_values(const void* from, float* to, unsigned count);
/// `count` words of f32, of which the unit reads 10 bits of the mantissa.
void tf32_values(const void* from, float* to, unsigned count);
void s8_values(const void* from, int* to, unsigned count);

/// c[i][j] += a[i][k] b[k][j], dense and row-major. `rows` is a multiple of 4, `columns` of 8. a's products
/// are summed in k's order.
void multiply_add(float* c, const float* a, const float* b, unsigned rows, unsigned depth, unsigned columns);
void multiply_add(int* c, const int* a, const int* b, unsigned rows, unsigned depth, unsigned columns);

}  // namespace tunesmith_emulation
