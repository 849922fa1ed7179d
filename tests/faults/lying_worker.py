#!/usr/bin/env python3
"""A worker that lies: stands between the tuner and the real tunesmith-worker, and changes some of its answers.

In TUNESMITH_TEST_LIES: {"worker": the real one, "count": a file, "type": "run", "lies": {number: lie}}. Questions of the type are numbered
from 0 over all processes, by the size of the file."""
import ctypes
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import time

PLAN = json.loads(os.environ["TUNESMITH_TEST_LIES"])


def read(stream, size):
    data = b""
    while len(data) < size:
        piece = stream.recv(min(size - len(data), 1 << 20))
        if not piece:
            sys.exit(0)
        data += piece
    return data


def receive(stream):
    number, header, attachments = struct.unpack("=3Q", read(stream, 24))
    sizes = struct.unpack(f"={attachments}Q", read(stream, 8 * attachments))
    return number, json.loads(read(stream, header)), [read(stream, size) for size in sizes]


def packed(number, header, attachments=(), sizes=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    words = sizes or [len(text), len(attachments), *map(len, attachments)]
    return struct.pack(f"={1 + len(words)}Q", number, *words) + text + b"".join(attachments)


def changed(lie, number, header, attachments):
    """What the tuner gets instead of an answer."""
    whole = packed(number, header, attachments)
    if lie == "garbage":
        return random.Random(5).randbytes(4096)
    if lie == "truncated":
        return whole[:len(whole) // 2]
    if lie == "huge":
        return packed(number, header, sizes=[1 << 60, 0])
    if lie == "attachments":
        return packed(number, header, [b"x"] * 10)
    if lie == "deep":
        return packed(number, b'{"samples":' + b"[" * 500_000)
    if lie == "another question's":
        return packed(number - 1, header, attachments)
    if lie == "no JSON":
        return packed(number, b"{'samples': [1]}")
    if lie == "silence":
        time.sleep(1000)
    fields = {"missing": {"verified_error": None}, "wrong type": {"samples": "fast"}, "no time": {"samples": [-1.0]},
              "no samples": {"samples": []}, "too many samples": {"samples": [1e-3] * 11},
              "unknown cause": {"type": "failure", "cause": "bad_luck", "message": "", "device_lost": False},
              "another's type": {"type": "added", "seconds": 1.0}, "gives up": {"type": "error", "message": "no more", "of_user": True},
              "other version": {"schema": 99}}[lie]
    return packed(number, {name: value for name, value in {**header, **fields}.items() if value is not None}, attachments)


def main():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # as the real one, it ends with the tuner
    tuner = socket.socket(fileno=os.dup(3))
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([PLAN["worker"]], preexec_fn=lambda: os.dup2(theirs.fileno(), 3), pass_fds=[3])
    theirs.close()
    while True:
        number, question, attachments = receive(tuner)
        ours.sendall(packed(number, question, attachments))
        answer = receive(ours)
        lie = None
        if question["type"] == PLAN["type"]:
            with open(PLAN["count"], "ab") as count:
                count.write(b".")
                lie = PLAN["lies"].get(str(count.tell() - 1))
        if lie is None:
            tuner.sendall(packed(*answer))
            continue
        tuner.sendall(changed(lie, *answer))
        if lie == "truncated":
            process.kill()
            sys.exit(0)


if __name__ == "__main__":
    main()
