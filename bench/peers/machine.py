"""How busy other processes keep the machine, and the lock by which runs of Tunesmith take turns at measuring."""
import contextlib
import fcntl
import os
import pathlib
import time


class Loaded(Exception):
    """The machine is too busy for figures that mean anything."""


def processor_seconds(text):
    """(busy, stolen) seconds of all processors since the machine started, from the text of /proc/stat."""
    ticks = os.sysconf("SC_CLK_TCK")
    fields = [int(field) for field in text.splitlines()[0].split()[1:]]
    user, nice, system, _, _, interrupts, soft_interrupts, stolen = (fields + [0] * 8)[:8]
    return (user + nice + system + interrupts + soft_interrupts + stolen) / ticks, stolen / ticks


def now():
    return processor_seconds(pathlib.Path("/proc/stat").read_text())


def own_seconds():
    """Processor time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Watch:
    """How many processors others have kept busy since this was made."""

    def __init__(self, stat=now, own=own_seconds, clock=time.monotonic):
        self._sources = stat, own, clock
        self._begin = stat(), own(), clock()

    def others(self):
        stat, own, clock = self._sources
        (busy, _), used, begin = self._begin
        wall = max(clock() - begin, 1e-3)
        return max(0.0, (stat()[0] - busy) - (own() - used)) / wall


def wait_until_quiet(limit, wait, window=2.0, steady=3, say=lambda text: None, watch=Watch, sleep=time.sleep, clock=time.monotonic):
    """Returns the load once `steady` windows in a row had at most `limit` processors busy with others; raises Loaded after `wait` seconds.

    The load average would not do: for minutes it includes this script's own work."""
    deadline = clock() + wait
    quiet = []
    said = False
    while True:
        watched = watch()
        sleep(window)
        load = watched.others()
        quiet = quiet + [load] if load <= limit else []
        if len(quiet) >= steady:
            return max(quiet)
        if clock() >= deadline:
            raise Loaded(f"others keep {load:.2f} processors busy, more than {limit:g}; nothing is measured. "
                         "--wait SECONDS waits longer, --allow-load measures all the same and says so in the table")
        if not quiet and not said:
            say(f"waiting until others keep at most {limit:g} processors busy (now {load:.2f})")
            said = True


def lock_file():
    """The lock of Tunesmith's runs."""
    if named := os.environ.get("TUNESMITH_MACHINE_LOCK"):
        return pathlib.Path(named)
    for folder in ("/run/lock", "/tmp"):
        if os.path.isdir(folder) and os.stat(folder).st_mode & 0o1007 == 0o1007:
            return pathlib.Path(folder) / "tunesmith.lock"
    return pathlib.Path("/tmp/tunesmith.lock")


def flock(file):
    """An open descriptor that holds the lock; None if the file cannot be opened."""
    try:
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            descriptor = os.open(file, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        return None
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


@contextlib.contextmanager
def turn():
    """Keeps runs of Tunesmith from measuring meanwhile (measuring/include/tunesmith/measuring/machine_lock.h). Without a lock file it
    measures all the same."""
    gate = flock(f"{lock_file()}.next")
    held = flock(lock_file())
    if gate is not None:
        os.close(gate)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)
