"""As much of AMQP 0-9-1 as a stranger needs to put a message into an exchange of a broker on loopback."""
import hashlib
import re
import socket
import struct


def _short(text):
    return bytes([len(text)]) + text.encode()


def _method(sock, channel, ids, arguments):
    payload = struct.pack(">HH", *ids) + arguments
    sock.sendall(struct.pack(">BHI", 1, channel, len(payload)) + payload + b"\xce")


def _read(sock, count):
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        assert part, "the broker closed the connection"
        data += part
    return data


def _answer(sock, *wanted):
    while True:
        kind, _, size = struct.unpack(">BHI", _read(sock, 7))
        payload = _read(sock, size + 1)
        if kind == 1 and struct.unpack(">HH", payload[:4]) in wanted:
            return struct.unpack(">HH", payload[:4])


FRAME = 131072


def _log_in(sock):
    sock.sendall(b"AMQP\x00\x00\x09\x01")
    _answer(sock, (10, 10))
    login = b"\x00guest\x00guest"
    _method(sock, 0, (10, 11), struct.pack(">I", 0) + _short("PLAIN") + struct.pack(">I", len(login)) + login + _short("en_US"))
    _answer(sock, (10, 30))
    _method(sock, 0, (10, 31), struct.pack(">HIH", 100, FRAME, 0))
    _method(sock, 0, (10, 40), _short("/") + _short("") + b"\x00")
    _answer(sock, (10, 41))
    _method(sock, 1, (20, 10), _short(""))
    _answer(sock, (20, 11))


def take_and_die(port, queue):
    """Takes the first message, if there is one, and disconnects without an answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        _log_in(sock)
        _method(sock, 1, (60, 70), struct.pack(">H", 0) + _short(queue) + b"\x00")
        return _answer(sock, (60, 71), (60, 72)) == (60, 71)


def _properties(payload):
    """Those of a header that have a text, by the number of their flag."""
    (flags,) = struct.unpack(">H", payload[12:14])
    texts, at = {}, 14
    for bit in range(15, 4, -1):
        if not flags >> bit & 1:
            continue
        if bit == 13:  # headers, a table
            at += 4 + struct.unpack(">I", payload[at:at + 4])[0]
        elif bit in (11, 12):
            at += 1
        elif bit == 6:
            at += 8
        else:
            texts[bit] = payload[at + 1:at + 1 + payload[at]].decode()
            at += 1 + payload[at]
    return texts


def take_all(port, queue):
    """What waits there, taken away: [{kind, correlation, reply_to, body}], as publish() takes them."""
    taken = []
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        _log_in(sock)
        while True:
            _method(sock, 1, (60, 70), struct.pack(">H", 0) + _short(queue) + b"\x01")
            if _answer(sock, (60, 71), (60, 72)) == (60, 72):
                return taken
            _, _, size = struct.unpack(">BHI", _read(sock, 7))
            header = _read(sock, size + 1)
            texts, body = _properties(header), b""
            while len(body) < struct.unpack(">Q", header[4:12])[0]:
                _, _, size = struct.unpack(">BHI", _read(sock, 7))
                body += _read(sock, size + 1)[:-1]
            taken.append({"kind": texts.get(5, ""), "correlation": texts.get(10, ""), "reply_to": texts.get(9, ""), "body": body})


def sealed(body, pattern, by, version=None):
    """A message that says something else, with the checksum of that."""
    kind, content, known = re.fullmatch(r'\{"checksum":"\w{16}","(\w+)":(.*),"version":(\d+)\}\n?', body.decode(), re.DOTALL).groups()
    content, changed = re.subn(pattern, by, content)
    assert changed, (pattern, content)
    return f'{{"checksum":"{hashlib.sha256(content.encode()).hexdigest()[:16]}","{kind}":{content},"version":{version or known}}}\n'.encode()


def delete_queue(port, queue):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        _log_in(sock)
        _method(sock, 1, (50, 40), struct.pack(">H", 0) + _short(queue) + b"\x00")
        _answer(sock, (50, 41))


def publish(port, exchange, key, body, kind="job", correlation="forged", reply_to=""):
    """Waits until the broker has closed the channel, since it has the message then."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        _log_in(sock)
        _method(sock, 1, (60, 40), struct.pack(">H", 0) + _short(exchange) + _short(key) + b"\x00")
        # correlation-id, reply-to and type
        properties = struct.pack(">H", 1 << 10 | 1 << 9 | 1 << 5) + _short(correlation) + _short(reply_to) + _short(kind)
        header = struct.pack(">HHQ", 60, 0, len(body)) + properties
        sock.sendall(struct.pack(">BHI", 2, 1, len(header)) + header + b"\xce")
        for begin in range(0, len(body), FRAME - 8):
            part = body[begin:begin + FRAME - 8]
            sock.sendall(struct.pack(">BHI", 3, 1, len(part)) + part + b"\xce")
        _method(sock, 1, (20, 40), struct.pack(">H", 200) + _short("") + struct.pack(">HH", 0, 0))
        _answer(sock, (20, 41))
