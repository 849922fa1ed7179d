// Where this installation lies.
#pragma once

#include <filesystem>

namespace tunesmith {

/// The folder that holds libtunesmith.so, links resolved. The same layout in the build tree and when
/// installed: <prefix>/lib and <prefix>/bin.
std::filesystem::path library_folder();

}  // namespace tunesmith
