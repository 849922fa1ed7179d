// Operators that workload files define: those with the key `operator` (docs/networks.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tunesmith/network/importer.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Adds operators to an importer, with precedence over its own: from these files, or from all files *.yaml in
/// a folder. If several files define one operator, the first that accepts a node's inputs is used. Throws
/// UserError, also for a file without operators. Operators live as long as the process, like those of
/// importers.
std::shared_ptr<const Importer> with_operators(std::shared_ptr<const Importer> importer,
                                               const std::vector<std::string>& paths);

}  // namespace tunesmith::network
#pragma GCC visibility pop
