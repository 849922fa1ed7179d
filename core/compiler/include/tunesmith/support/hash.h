// Hashes that are equal on every machine and in every run, which std::hash does not guarantee.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace tunesmith {

/// FNV-1a over bytes, 64 bits. For deduplication and seeds, not for security.
uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0xcbf29ce484222325ULL);

/// Mixes `value` into `seed` (splitmix64 finaliser); order matters.
uint64_t hash_combine(uint64_t seed, uint64_t value);

/// SHA-256 in lower-case hexadecimal. For manifests and lock files.
std::string sha256_hex(std::string_view bytes);

/// 16 lower-case hexadecimal digits.
std::string hex64(uint64_t value);

}  // namespace tunesmith
#pragma GCC visibility pop
