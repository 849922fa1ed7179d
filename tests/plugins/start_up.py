#!/usr/bin/env python3
"""How long starting takes. On a quiet machine `--help` takes about 3 ms (the goal is 20) and loading all built-in plugins about 36 ms
(the goal is 50, nearly all of it libLLVM); the bounds leave a busy machine ten times that. Usage: start_up.py TUNESMITH"""
import subprocess
import sys
import time


def best_seconds(*command, runs):
    times = []
    for _ in range(runs):
        begin = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    return min(times)


def main():
    tunesmith = sys.argv[1]
    needed = subprocess.run(["ldd", tunesmith], check=True, capture_output=True, text=True).stdout
    assert "LLVM" not in needed, "the command itself links a code generator"
    process = best_seconds("/bin/true", runs=10)
    for_help = best_seconds(tunesmith, "--help", runs=10) - process
    for_plugins = best_seconds(tunesmith, "plugins", "list", "--options", runs=10) - process
    assert for_help < 0.2, f"--help takes {1e3 * for_help:.0f} ms"
    assert for_plugins - for_help < 0.5, f"loading all plugins takes {1e3 * (for_plugins - for_help):.0f} ms"


if __name__ == "__main__":
    main()
