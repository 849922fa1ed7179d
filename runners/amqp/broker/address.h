// A broker's address, with the user and password.
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

  /// Omits the password.
  std::string str() const;
};

/// Parses "amqps://user:password@host:port/vhost", or "file:PATH", the first line of a file that others may
/// not read. An empty `text` means $TUNESMITH_BROKER; throws EnvironmentError if that is empty, too. Throws
/// UserError for an invalid address, and for amqp to other machines unless `insecure`: a third party could
/// read the password and send jobs.
Address parse_address(std::string text, bool insecure);

}  // namespace tunesmith::broker
