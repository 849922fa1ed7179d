// The worker process that runs candidates. The tuner starts it and holds the other end of descriptor 3; not
// for manual use. With --probe it tests whether plugins load.
#include <cstdio>
#include <string_view>

#include <sys/socket.h>
#include <unistd.h>

#include <tunesmith/measuring/worker.h>
#include <tunesmith/plugin/probe.h>

/// Replaces exit(), which candidates may call in several threads at once: the C library's would run handlers
/// that fault and lose the exit code.
extern "C" void exit(int code) { _exit(code); }

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--probe") return tunesmith::answer_probe();
  constexpr int kSocket = 3;
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(kSocket, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
    std::fputs("tunesmith-worker: started by tunesmith with a socket; not to be run by hand\n", stderr);
    return 2;
  }
  return tunesmith::serve_measurements(kSocket);
}
