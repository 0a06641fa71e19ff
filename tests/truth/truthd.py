"""Starts truthd, speaks its control protocol, and reads its journal."""
import json
import re
import socket
import struct
import subprocess

RECORD = struct.Struct("=qqqIIII")
OUTCOMES = ["ok", "503", "hang", "reset", "gone"]


class Record:
    """One request, in milliseconds since the first one; `written` is None when no answer was."""

    __slots__ = ("read", "due", "written", "connection", "outcome", "bytes")

    def __init__(self, fields, origin):
        read, due, written, self.connection, _, outcome, self.bytes = fields
        self.read, self.due = (read - origin) / 1e6, (due - origin) / 1e6
        self.written = (written - origin) / 1e6 if written else None
        self.outcome = OUTCOMES[outcome]

    @property
    def spent(self):
        return self.written - self.read


class Journal:
    """The records, and the stalls as (start, end) in the same time."""

    def __init__(self, raw, stats):
        fields = list(RECORD.iter_unpack(raw))
        self.origin = fields[0][0] if fields else 0
        self.records = [Record(one, self.origin) for one in fields]
        self.stalls = [((start - self.origin) / 1e6, (end - self.origin) / 1e6) for start, end in stats["stalls"]]
        self.connections, self.cpu = stats["connections"], stats["cpu"]

    def spent(self, after=0.0):
        """Of the good answers to what was read from `after` on."""
        return [record.spent for record in self.records if record.outcome == "ok" and record.written is not None and record.read >= after]

    def count(self, outcome):
        return sum(record.outcome == outcome for record in self.records)


class Truthd:
    """`with Truthd(program, before) as server`: `before` is a command line to put in front, taskset for one."""

    def __init__(self, program, before=()):
        self.process = subprocess.Popen([*before, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port, self.control = map(int, re.findall(r"\d+", self.process.stdout.readline()))
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, line):
        with socket.create_connection(("127.0.0.1", self.control)) as control:
            control.sendall(line.encode() + b"\n")
            return b"".join(iter(lambda: control.recv(1 << 20), b""))

    def reset(self, law):
        """`law` is all that follows "reset"."""
        reply = self.ask(f"reset {law}")
        if reply != b"ok\n":
            raise ValueError(f"reset {law}: {reply.decode().strip()}")

    def journal(self):
        return Journal(self.ask("log"), json.loads(self.ask("stats")))
