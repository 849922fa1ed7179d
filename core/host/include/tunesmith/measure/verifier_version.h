// Which check a program passed: records carry it with each acceptance.
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Of the verification in this library: data sets, bounds and what is watched while a program runs. Raise it
/// whenever a program that was accepted could now be refused. 1 stands for every check before records carried
/// a version.
inline constexpr int kVerifierVersion = 5;

}  // namespace tunesmith
#pragma GCC visibility pop
