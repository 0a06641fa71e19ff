"""A network of its own for a test, with few local ports, without IPv6, with a hosts file that the test writes.

    unshare --user --map-root-user --net --mount python3 namespace.py FOLDER SETTING=VALUE...

makes it, says "ready", and holds it until standard input ends; SETTING is below /proc/sys/net. FOLDER/hosts is /etc/hosts, and no name server can be asked.
"""
import fcntl
import socket
import struct
import subprocess
import sys
from pathlib import Path

SIOCSIFFLAGS, UP = 0x8914, 1


class Namespace:
    """`enter` are the words before a command that is to run in it. None can be made without leave: `why` says so."""

    def __init__(self, folder, *settings):
        self.hosts = folder / "hosts"
        self.hosts.write_text("127.0.0.1 localhost\n")
        self.process = subprocess.Popen(["unshare", "--user", "--map-root-user", "--net", "--mount", sys.executable, __file__, folder, *settings],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = self.process.stdout.readline()
        self.why = None if line == "ready\n" else "no namespace can be made here: " + (line + self.process.stdout.read()).strip()
        self.enter = ["nsenter", f"--target={self.process.pid}", "--user", "--net", "--mount", "--preserve-credentials", f"--wd={folder}"]

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


def bring_up_loopback():
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", UP))


def main(folder, *settings):
    bring_up_loopback()
    for setting in settings:
        name, value = setting.split("=")
        Path("/proc/sys/net", name).write_text(value)
    Path(folder, "empty").write_text("")
    for source, place in (("hosts", "/etc/hosts"), ("empty", "/etc/resolv.conf")):
        subprocess.run(["mount", "--bind", Path(folder, source), place], check=True)
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
