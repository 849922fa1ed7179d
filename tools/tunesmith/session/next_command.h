// Suggests commands to the user.
#pragma once

#include <string>
#include <vector>

#include "session.h"

namespace tunesmith::cli {

/// Quotes a word for a shell if necessary.
std::string shell_word(const std::string& text);

/// "tunesmith build gmm:n=512 --space cpu".
std::string spoken_command(const std::vector<std::string>& words);

/// `words` with the options that the next command needs to find the results of this
/// one: plugins, spaces, `database` as given by --database, and `threads` (0: all).
std::vector<std::string> with_same_place(std::vector<std::string> words, const Common& common,
                                         const std::string& database, int threads);

/// What to do with programs that only machines of the workers' identity compile.
std::string build_there(const Common& common, const std::string& database);

}  // namespace tunesmith::cli
