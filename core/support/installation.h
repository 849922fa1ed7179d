// Where this installation lies.
#pragma once

#include <filesystem>

namespace tunesmith {

/// libtunesmith.so, links resolved.
std::filesystem::path library_file();
/// The folder that holds it. The same layout in the build tree and when
/// installed: <prefix>/lib and <prefix>/bin.
std::filesystem::path library_folder();

}  // namespace tunesmith
