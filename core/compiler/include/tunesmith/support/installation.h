// The location of this installation.
#pragma once

#include <filesystem>

#pragma GCC visibility push(default)
namespace tunesmith {

/// The path of libtunesmith_compiler.so, beside libtunesmith.so, with links resolved.
std::filesystem::path library_file();
/// The folder that contains it. The build tree has the same
/// layout as an installation: PREFIX/lib and PREFIX/bin.
std::filesystem::path library_folder();
/// The path of tunesmith-worker. Throws EnvironmentError if it does not exist.
std::filesystem::path worker_program();

}  // namespace tunesmith
#pragma GCC visibility pop
