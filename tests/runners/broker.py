"""A broker for one test, on loopback, with new ports and a new folder; ended by its process id."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

SERVER = pathlib.Path("/usr/lib/rabbitmq/bin/rabbitmq-server")  # the one in PATH changes to another user
SKIPPED = 77


def missing():
    """What this machine lacks to run a broker, or ""."""
    if not SERVER.exists() or shutil.which("epmd") is None:
        return "rabbitmq-server is not installed: tools/packages --broker"
    return ""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def make_certificates(folder):
    """Makes a certificate authority, and a server's certificate for localhost."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=authority", "-days", "2", "-keyout", "authority.key", "-out", "authority.pem")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", "server.pem")
    return {name: folder / f"{name}.pem" for name in ("authority", "server")} | {"key": folder / "server.key"}


class Broker:
    def __init__(self, folder, tls=False):
        self.folder = pathlib.Path(folder) / "broker"
        self.folder.mkdir()
        self.port, distribution, epmd = free_ports(3)
        (self.folder / "plugins").write_text("[].\n")
        (self.folder / "rabbitmq.conf").write_text(f"listeners.tcp.1 = 127.0.0.1:{self.port}\nvm_memory_high_watermark.absolute = 512MiB\ndisk_free_limit.absolute = 50MB\n"
                                                   "raft.wal_max_size_bytes = 64000000\n")  # kept in memory; by default as much as the limit
        if tls:
            self.tls_port, self.certificates = free_ports(1)[0], make_certificates(self.folder)
            with open(self.folder / "rabbitmq.conf", "a") as file:
                file.write(f"listeners.ssl.1 = 127.0.0.1:{self.tls_port}\nssl_options.cacertfile = {self.certificates['authority']}\n"
                           f"ssl_options.certfile = {self.certificates['server']}\nssl_options.keyfile = {self.certificates['key']}\n")
        self.environment = {
            **os.environ, "HOME": str(self.folder), "RABBITMQ_NODENAME": f"test{self.port}@localhost", "RABBITMQ_MNESIA_BASE": str(self.folder / "data"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"), "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"), "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_DIST_PORT": str(distribution), "RABBITMQ_CONF_ENV_FILE": str(self.folder / "none"), "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "ERL_EPMD_PORT": str(epmd), "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none"}
        self.epmd = subprocess.Popen(["epmd", "-port", str(epmd), "-address", "127.0.0.1"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.process = None
        self.start()

    @property
    def url(self):
        return f"amqp://guest:guest@127.0.0.1:{self.port}"

    def start(self):
        log = open(self.folder / "output", "ab")
        self.process = subprocess.Popen([SERVER], env=self.environment, stdout=log, stderr=log, start_new_session=True)
        until = time.monotonic() + 240
        while time.monotonic() < until:
            assert self.process.poll() is None, (self.folder / "output").read_text()[-3000:]
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                    connection.sendall(b"AMQP\x00\x00\x09\x01")
                    if connection.recv(1):
                        return
            except OSError:
                time.sleep(0.3)
        raise AssertionError("the broker did not start: " + (self.folder / "output").read_text()[-3000:])

    def control(self, *words):
        done = subprocess.run([SERVER.parent / "rabbitmqctl", *words], env=self.environment, capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def await_log(self, text, seconds=60):
        until = time.monotonic() + seconds
        while not any(text in log.read_text(errors="replace") for log in (self.folder / "log").glob("*.log")):
            assert time.monotonic() < until, f"the broker's log never said '{text}'"
            time.sleep(0.2)

    def unacknowledged(self, prefix):
        """The number of messages that consumers of the queues with this prefix have not acknowledged."""
        lines = self.control("--quiet", "list_queues", "name", "messages_unacknowledged").splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(prefix))

    def send_signal(self, which):
        """To the server's process group."""
        os.killpg(self.process.pid, which)

    def stop(self, how=signal.SIGTERM):
        """Ends the server's process group."""
        if self.process is None or self.process.poll() is not None:
            return
        self.send_signal(how)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.send_signal(signal.SIGKILL)
            self.process.wait(60)

    def close(self):
        self.stop(signal.SIGKILL)
        # Erlang starts epmd as a daemon if ours has ended; the one at this port belongs to us.
        subprocess.run(["epmd", "-kill"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        self.epmd.kill()
        self.epmd.wait(10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
