// Where a broker is, and who we are there.
#pragma once

#include <string>

namespace tunesmith::broker {

struct Address {
  std::string host;
  int port = 0;
  std::string user;
  std::string password;
  std::string virtual_host;
  bool tls = false;

  /// Without the password.
  std::string str() const;
};

/// Of "amqps://user:password@host:port/vhost", or "file:PATH": the first line of a file that others may
/// not read. `text` empty: $TUNESMITH_BROKER, and EnvironmentError where that is empty, too. Throws
/// UserError for what is no address, also for amqp to other machines unless `insecure`: whoever is in between
/// would read the password, and could write jobs.
Address parse_address(std::string text, bool insecure);

}  // namespace tunesmith::broker
