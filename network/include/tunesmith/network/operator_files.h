// Operators that workload files define: those with the key `operator` (docs/networks.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tunesmith/network/importer.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// The importer with the operators of these files, or of all files *.yaml in a folder, before its own.
/// Several files may define one operator: the first that takes a node's inputs does. Throws UserError, also
/// for a file that defines none. Operators live as long as the process, as an importer's do.
std::shared_ptr<const Importer> with_operators(std::shared_ptr<const Importer> importer,
                                               const std::vector<std::string>& paths);

}  // namespace tunesmith::network
#pragma GCC visibility pop
