// Reads a network for a command: with the values of its extents from the command line.
#pragma once

#include <functional>
#include <optional>

#include <tunesmith/network/pass.h>
#include <tunesmith/network/tasks.h>

#include "commands.h"
#include "session.h"

namespace tunesmith::cli {

using network::counts_of;
using network::TaskedNetwork;
using network::title_of;

/// "batch=1", "batch=1..16", "tokens=1..512:typical=128,384". Throws UserError.
network::Dimensions dimensions_of(const std::vector<std::string>& texts);

/// Throws UserError for a dimension that is no extent which the network leaves open.
void require_known(const network::Network& network, const network::Dimensions& dimensions);

/// The given values of varying extents; nothing if none was given. Throws UserError for a value that is
/// missing or out of range.
std::optional<std::vector<int64_t>> values_given(const std::vector<network::VaryingExtent>& varying,
                                                 const std::vector<std::string>& texts);

/// Reads the file, runs all passes with the given dimensions, and forms regions. `after`, if given, is called
/// with the network after each pass; ranges then have their highest values. Throws UserError.
TaskedNetwork read_tasks(
    Session& session, const NetworkArguments& arguments,
    const std::function<void(const network::Pass&, const network::Network&)>& after = {});

}  // namespace tunesmith::cli
