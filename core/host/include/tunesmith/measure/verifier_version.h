// The version of the verification that accepted a program; recorded with each acceptance.
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Covers data sets, error bounds and the checks while a program runs. Raise it when a program that was
/// accepted before could now be refused. 1 denotes all verification before records contained a version.
inline constexpr int kVerifierVersion = 5;

}  // namespace tunesmith
#pragma GCC visibility pop
