// Where this installation lies.
#pragma once

#include <filesystem>

#pragma GCC visibility push(default)
namespace tunesmith {

/// libtunesmith_compiler.so, which lies beside libtunesmith.so; links resolved.
std::filesystem::path library_file();
/// The folder that holds it. The same layout in the build tree and when
/// installed: PREFIX/lib and PREFIX/bin.
std::filesystem::path library_folder();
/// tunesmith-worker. Throws EnvironmentError when it is not there.
std::filesystem::path worker_program();

}  // namespace tunesmith
#pragma GCC visibility pop
