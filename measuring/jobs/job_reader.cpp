#include "tunesmith/measuring/job_reader.h"

#include <istream>

#include "tunesmith/schema/line.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

bool JobReader::next() {
  while (read_line(in_, line_)) {
    ++number_;
    if (line_.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      job_ = parse_job(line_);
    } catch (const UserError& error) {
      job_ = tl::make_unexpected(std::string(error.what()));
    }
    return true;
  }
  if (in_.bad()) throw EnvironmentError("the jobs could not be read completely");
  return false;
}

}  // namespace tunesmith
