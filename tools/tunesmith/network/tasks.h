// A network as the commands read it: with the values of its extents from the command line.
#pragma once

#include <functional>

#include <tunesmith/network/pass.h>
#include <tunesmith/network/tasks.h>

#include "commands.h"
#include "session.h"

namespace tunesmith::cli {

using network::counts_of;
using network::TaskedNetwork;
using network::title_of;

/// Reads the file, runs all passes with the dimensions that were given, and forms regions. `after`, where it
/// is given, sees what each pass has made. Throws UserError.
TaskedNetwork read_tasks(
    Session& session, const NetworkArguments& arguments,
    const std::function<void(const network::Pass&, const network::Network&)>& after = {});

}  // namespace tunesmith::cli
