"""HTTPS against nginx, openssl s_server and small servers of Python's ssl: what works, and what every failure says."""
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import threading

import pytest

from certificates import Authority, self_signed
from conftest import Server, accepts, wait_until


def scenario_of(result):
    (scenario,) = result["scenarios"].values()
    return scenario


def assert_balanced(scenario):
    requests, connections = scenario["requests"], scenario["connections"]
    assert requests["started"] == sum(requests[key] for key in ("succeeded", "failed", "timed_out", "interrupted"))
    assert connections["opened"] == sum(each["opened"] for each in connections["by_address"].values())
    assert connections["opened"] == sum(each["opened"] for each in connections["agreed"])


# Servers


class Nginx(Server):
    """nginx with TLS. `log` has a line a request: name sent by SNI, whether the session was resumed, protocol, subject of the client's certificate."""

    CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  log_format tls "$ssl_server_name|$ssl_session_reused|$ssl_protocol|$ssl_client_s_dn|$ssl_cipher";
  access_log {folder}/access.log tls;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  default_type text/plain;
  server {{
    listen 127.0.0.1:{port} ssl{h2};
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    ssl_protocols TLSv1.2 TLSv1.3;
    {more}
    location = /hello {{ return 200 "hello, world\\n"; }}
  }}
}}
"""

    def __init__(self, folder, port, certificate, more, h2=False):
        folder.mkdir()
        config = folder / "nginx.conf"
        config.write_text(self.CONFIG.format(folder=folder, port=port, certificate=certificate[0], key=certificate[1], more=more,
                                             h2=" http2" if h2 else ""))
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        super().__init__([nginx, "-e", folder / "error.log", "-p", folder, "-c", config])
        self.folder, self.port, self.url = folder, port, f"https://127.0.0.1:{port}"
        wait_until(lambda: accepts(port), "nginx listens")

    def log(self):
        """Its lines; ends the server, which writes a line after the answer."""
        self.stop(signal.SIGQUIT)
        return [line.split("|") for line in (self.folder / "access.log").read_text().splitlines()]


@pytest.fixture(autouse=True)
def leave_to_read_certificates(luabench, authority):
    luabench.more.append(f"--allow-read={authority.path.parent}")


@pytest.fixture
def nginx(tmp_path, free_port, certificate):
    servers = []

    def start(more="", certificate=certificate, **options):
        servers.append(Nginx(tmp_path / f"nginx{len(servers)}", free_port(), certificate, more, **options))
        return servers[-1]
    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def s_server(free_port):
    """A function that starts `openssl s_server -www`, which answers every request with a page; returns its URL."""
    servers = []

    def start(certificate, *more):
        port = free_port()
        servers.append(subprocess.Popen(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", certificate[0], "-key", certificate[1],
                                         "-quiet", "-www", *map(str, more)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_until(lambda: accepts(port), "s_server listens")
        return f"https://127.0.0.1:{port}"
    yield start
    for server in servers:
        server.kill()
        server.wait()


class PythonServer:
    """Accepts connections, one at a time, and lets `serve` have each, over TLS."""

    def __init__(self, certificate, serve):
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(*certificate)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        self.serve = serve
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            try:
                self.serve(self.context.wrap_socket(plain, server_side=True, suppress_ragged_eofs=True))
            except OSError:
                plain.close()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


@pytest.fixture
def python_server(certificate):
    servers = []

    def start(serve):
        servers.append(PythonServer(certificate, serve))
        return servers[-1].url
    yield start
    for server in servers:
        server.close()


# What works


def test_requests_over_tls(luabench, nginx, authority):
    server = nginx()
    result = luabench.result("-n", 1000, "-c", 10, "-t", 1, "--cacert", authority.path, "--target", server.url,
                             script='scenario "s" { run = function() check("200", http.get("/hello").body == "hello, world\\n") end }')
    scenario = scenario_of(result)
    assert_balanced(scenario)
    assert scenario["requests"]["succeeded"] == 1000 == len(server.log())
    assert result["checks"]["200"]["passes"] == 1000
    assert scenario["connections"]["opened"] == 10 == scenario["tls"]["count"]
    assert {(each["http"], each["tls"], each["cipher"]) for each in scenario["connections"]["agreed"]} == \
        {("1.1", "TLSv1.3", "TLS_AES_256_GCM_SHA384")}


def test_the_report_says_what_was_agreed(luabench, nginx, authority):
    server = nginx()
    done = luabench.run(server.url + "/hello", "-n", 10, "-c", 1, "--cacert", authority.path, "--http", "1.1")
    assert done.returncode == 0
    assert re.search(r"^protocol +HTTP/1\.1, TLSv1\.3 TLS_AES_256_GCM_SHA384$", done.stdout, re.M), done.stdout


def test_the_environment_says_which_authorities_the_system_trusts(luabench, nginx, authority):
    server = nginx()
    result = luabench.result(server.url + "/hello", "-n", 5, env={**os.environ, "SSL_CERT_FILE": str(authority.path)})
    assert scenario_of(result)["requests"]["succeeded"] == 5


@pytest.mark.parametrize("options, version", [((), "TLSv1.3"), (('max_tls = "1.2"',), "TLSv1.2"), (('min_tls = "1.3"',), "TLSv1.3")])
def test_versions(luabench, nginx, authority, options, version):
    server = nginx()
    http = ", ".join([f'ca = "{authority.path}"', *options])
    luabench.result("--target", server.url, script=f'scenario "s" {{ http = {{ {http} }}, run = function() http.get("/hello") end }}')
    assert [line[2] for line in server.log()] == [version]


def test_versions_of_http(luabench, nginx, authority):
    """Each on connections of its own: by ALPN, or as a scenario or a request demands."""
    server = nginx(h2=True)
    script = f'''
      defaults {{ target = "{server.url}", http = {{ ca = "{authority.path}" }}, iterations_per_user = 3 }}
      local function ask(wanted, version, text)
        local res = http.get("/hello", wanted)
        check(text, res.status == 200 and res.version == version, res.version or res.error_text)
      end
      scenario "auto" {{ run = function()
        ask(nil, "2", "auto") ask({{ version = "1.1" }}, "1.1", "auto, 1.1") ask({{ version = "2" }}, "2", "auto, 2")
      end }}
      scenario "old" {{ http = {{ version = "1.1" }}, run = function()
        ask(nil, "1.1", "1.1") ask({{ version = "2" }}, "2", "1.1, 2") ask({{ version = "auto" }}, "2", "1.1, auto")
      end }}
    '''
    result = luabench.result(script=script)
    assert {name: (check["passes"], check["why"]) for name, check in result["checks"].items()} == \
        {name: (3, None) for name in ("auto", "auto, 1.1", "auto, 2", "1.1", "1.1, 2", "1.1, auto")}
    for name, old, new in (("auto", 1, 2), ("old", 1, 2)):
        agreed = {each["http"]: each["opened"] for each in result["scenarios"][name]["connections"]["agreed"]}
        assert agreed == {"1.1": old, "2": new}


def test_ciphers(luabench, nginx, authority):
    server = nginx()
    for ciphers, most in (("TLS_CHACHA20_POLY1305_SHA256", "1.3"), ("ECDHE-ECDSA-AES128-GCM-SHA256:TLS_AES_128_GCM_SHA256", "1.2")):
        luabench.result("--target", server.url, script=f'''scenario "s" {{ http = {{ ca = "{authority.path}", ciphers = "{ciphers}", max_tls = "{most}" }},
            run = function() http.get("/hello") end }}''')
    assert [line[4] for line in server.log()] == ["TLS_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"]


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_resumption_is_seen_by_the_server(luabench, nginx, authority, resume, version):
    server = nginx("ssl_session_cache shared:x:1m; ssl_session_tickets off;" if version == "1.2" else "")
    result = luabench.result("--target", server.url, "-n", 20, "-c", 1, "--no-keepalive", script=f'''scenario "s" {{
        http = {{ ca = "{authority.path}", resume = {str(resume).lower()}, max_tls = "{version}" }}, run = function() http.get("/hello") end }}''')
    resumed = [line[1] for line in server.log()].count("r")
    assert resumed == (19 if resume else 0)
    assert [each["resumed"] for each in scenario_of(result)["connections"]["agreed"]] == [resumed]


@pytest.mark.parametrize("host, options, sent", [
    ("localhost", (), "localhost"), ("LOCALHOST", (), "localhost"), ("127.0.0.1", (), "-"), ("127.0.0.1", ("--sni", "localhost"), "localhost"),
    ("www.example.com", ("-k", "--resolve", "www.example.com:PORT:127.0.0.1"), "www.example.com"),
])
def test_sni(luabench, nginx, authority, host, options, sent):
    server = nginx()
    options = [option.replace("PORT", str(server.port)) for option in options]
    trust = () if "-k" in options else ("--cacert", authority.path)
    luabench.result(f"https://{host}:{server.port}/hello", "-n", 1, "-c", 1, "-4", *trust, *options)
    assert [line[0] for line in server.log()] == [sent]


def test_client_certificate(luabench, nginx, authority):
    server = nginx(f"ssl_client_certificate {authority.path}; ssl_verify_client on;")
    certificate, key = authority.issue("visitor")
    both = luabench.folder / "both.pem"
    both.write_text(certificate.read_text() + key.read_text())
    for options in (("--cert", certificate, "--key", key), ("--cert", both)):
        result = luabench.result(server.url + "/hello", "-n", 2, "-c", 1, "--cacert", authority.path, *options)
        assert scenario_of(result)["requests"]["succeeded"] == 2
    assert {line[3] for line in server.log()} == {"CN=visitor"}


def test_body_without_length_needs_a_proper_end(luabench, python_server, authority):
    """Closed without close_notify, the body may have been cut: RFC 9112 9.8."""
    def serve(goodbye):
        def answer(connection):
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nnobody knows how long this is")
            if goodbye:
                connection.unwrap()
            connection.close()
        return answer
    result = luabench.result(python_server(serve(True)), "-n", 2, "-c", 1, "--cacert", authority.path)
    assert scenario_of(result)["requests"]["succeeded"] == 2
    result = luabench.result(python_server(serve(False)), "-n", 2, "-c", 1, "--cacert", authority.path, status=3)
    assert scenario_of(result)["errors"] == {"closed": 2}
    assert "close_notify" in result["error_texts"][0]["text"]


def test_body_with_length_needs_no_proper_end(luabench, python_server, authority):
    def answer(connection):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        connection.close()
    result = luabench.result(python_server(answer), "-n", 20, "-c", 1, "--cacert", authority.path)
    assert scenario_of(result)["requests"]["succeeded"] == 20


def test_times_add_up(luabench, nginx, authority):
    server = nginx()
    script = '''scenario "s" { iterations_per_user = 5, run = function(user)
      local res = http.get("/hello")
      local t = res.time
      local sum = t.blocked + t.dns + t.connect + t.tls + t.send + t.wait + t.receive
      check("sum", math.abs(sum - t.total) < 1e-9, ("%g for %g"):format(sum, t.total))
      check("first", user.iteration > 1 or (t.connect > 0 and t.tls > 0))
      check("others", user.iteration == 1 or (t.connect == 0 and t.tls == 0 and t.dns == 0))
      check("all", t.blocked >= 0 and t.send >= 0 and t.wait > 0 and t.receive >= 0)
    end }'''
    result = luabench.result("--target", server.url, "-c", 3, "--cacert", authority.path, script=script)
    assert {name: check["fails"] for name, check in result["checks"].items()} == {"sum": 0, "first": 0, "others": 0, "all": 0}
    assert result["checks"]["sum"]["passes"] == 15


def test_times_of_failures_add_up(luabench, nginx):
    server = nginx()
    script = '''scenario "s" { run = function()
      local t = http.get("/hello").time
      local sum = t.blocked + t.dns + t.connect + t.tls + t.send + t.wait + t.receive
      check("sum", math.abs(sum - t.total) < 1e-9, ("%g for %g"):format(sum, t.total))
      check("tls", t.tls > 0)
    end }'''
    result = luabench.result("--target", server.url, script=script, status=3)
    assert {name: check["fails"] for name, check in result["checks"].items()} == {"sum": 0, "tls": 0}


# What fails: the requests, with exit status 3


def assert_fails(luabench, url, *options, error="tls", text, **more):
    done = luabench.run(url, "-n", 4, "-c", 2, "-o", "result.json", *options, **more)
    assert done.returncode == 3, done.stdout + done.stderr
    result = luabench.saved_result()
    assert scenario_of(result)["errors"] == {error: 4}
    assert_balanced(scenario_of(result))
    (shown,) = result["error_texts"]
    assert shown["error"] == error
    assert re.search(text, shown["text"]), shown["text"]
    words = " ".join(done.stdout.split())
    assert words.count(shown["text"]) == 1, "the report says it once"
    return shown["text"]


def test_expired(luabench, nginx, authority):
    expired = authority.issue("expired", end="20210203000000Z")
    assert_fails(luabench, nginx(certificate=expired).url, "--cacert", authority.path,
                 text=r"^the certificate has expired on 2021-02-03 \(OpenSSL: certificate has expired\); --insecure")


def test_not_yet_valid(luabench, nginx, authority):
    future = authority.issue("future", begin="20390101000000Z")
    assert_fails(luabench, nginx(certificate=future).url, "--cacert", authority.path, text="is not valid before 2039-01-01")


def test_self_signed(luabench, nginx, tmp_path):
    url = nginx(certificate=self_signed(tmp_path)).url
    assert_fails(luabench, url, text=r"^the certificate is self-signed \(OpenSSL: self-signed certificate\); --cacert")
    assert luabench.result(url + "/hello", "-n", 2, "--insecure")["total"]["requests"]["succeeded"] == 2
    assert luabench.result(url + "/hello", "-n", 2, "--cacert", tmp_path / "self.pem")["total"]["requests"]["succeeded"] == 2


def test_wrong_host(luabench, nginx, authority):
    other = authority.issue("other", names="DNS:other.example,DNS:*.wild.example")
    url = nginx(certificate=other).url
    assert_fails(luabench, url, "--cacert", authority.path,
                 text=r"^the certificate is for other\.example, \*\.wild\.example, not for the address 127\.0\.0\.1, which its subjectAltName would have to list \(OpenSSL: IP address mismatch\)")
    port = url.split(":")[-1]
    assert_fails(luabench, f"https://localhost:{port}", "-4", "--cacert", authority.path, text=r"not for localhost \(OpenSSL: hostname mismatch\)")
    for host in ("other.example", "a.wild.example"):
        result = luabench.result(f"https://{host}:{port}/hello", "-n", 1, "--cacert", authority.path, "--connect-to", f"{host}::127.0.0.1:")
        assert result["total"]["requests"]["succeeded"] == 1


def test_unknown_authority(luabench, nginx, authority, tmp_path):
    url = nginx().url
    text = r"^the certificate is signed by an unknown authority \(OpenSSL: unable to get local issuer certificate\)"
    assert_fails(luabench, url, text=text)
    assert_fails(luabench, url, "--cacert", Authority(tmp_path / "other").path, text=text)


def test_a_certificate_that_is_trusted_itself(luabench, nginx, certificate):
    """Whoever signed it."""
    assert luabench.result(nginx().url + "/hello", "-n", 1, "--cacert", certificate[0])["total"]["requests"]["succeeded"] == 1


def test_plain_server(luabench, target):
    assert_fails(luabench, target.url.replace("http:", "https:"), text=r"^the server does not speak TLS: http:// instead of https://\?")


def test_tls_server_on_http(luabench, nginx, s_server, raw_server, certificate):
    """nginx says so itself, OpenSSL's servers close, others send an alert."""
    result = luabench.result(nginx().url.replace("https:", "http:"), "-n", 2, status=0)
    assert scenario_of(result)["status"] == {"400": 2}
    text = assert_fails(luabench, s_server(certificate).replace("https:", "http:"), error="closed", text="if the server speaks TLS: https:// instead of http://")
    assert text.startswith("before a byte of the response came")
    assert_fails(luabench, raw_server(b"\x15\x03\x03\x00\x02\x02\x16", close=True).url, error="protocol", text=r"^the server answered in TLS: https:// instead of http://\?")


def test_http2_server_on_http1(luabench, raw_server):
    settings = b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0d"
    assert_fails(luabench, raw_server(settings).url, error="protocol", text=r'^the server answered in HTTP/2: --http 2 \(version = "2"\)\?')


def test_old_versions_alone(luabench, s_server, certificate, authority):
    url = s_server(certificate, "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0")
    assert_fails(luabench, url, "--cacert", authority.path, text=r"(none of the versions that are allowed|chose TLS 1\.1).*min_tls")
    result = luabench.result("--target", url, script=f'scenario "s" {{ http = {{ ca = "{authority.path}", min_tls = "1.1" }}, run = function() http.get("/") end }}')
    assert [each["tls"] for each in scenario_of(result)["connections"]["agreed"]] == ["TLSv1.1"]


def test_http2_demanded(luabench, s_server, nginx, certificate, authority):
    demand = ("--http", "2", "--cacert", authority.path)
    assert_fails(luabench, s_server(certificate), *demand, text=r"HTTP/2 is demanded, and the server does not offer it \(no ALPN\)")
    assert_fails(luabench, s_server(certificate, "-alpn", "http/1.1"), *demand, text=r"ALPN|HTTP/2 is demanded")


def test_client_certificate_missing(luabench, s_server, certificate, authority):
    for version in ("-tls1_2", "-tls1_3"):
        url = s_server(certificate, "-Verify", "1", "-CAfile", authority.path, version)
        assert_fails(luabench, url, "--cacert", authority.path, text=r"client's certificate")


def test_server_that_closes_or_is_silent(luabench, python_server, raw_server, free_port):
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"https://127.0.0.1:{listener.getsockname()[1]}"
    assert_fails(luabench, url, "--connect-timeout", "0.2", error="connect_timeout", text="^in the TLS handshake$")
    listener.close()


# What fails before anything is sent: exit status 2, with the file's name


def refused(luabench, *options, **more):
    done = luabench.run("https://127.0.0.1:1/", "-n", 1, *options, **more)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    return done.stderr


def test_unusable_files(luabench, authority, certificate, tmp_path):
    other = authority.issue("another")
    assert refused(luabench, "--cacert", "no/ca.pem") == "luabench: --cacert: cannot read no/ca.pem: No such file or directory\n"
    assert "--cert: cannot read no.pem" in refused(luabench, "--cert", "no.pem")
    assert "--key: cannot read no.key" in refused(luabench, "--cert", certificate[0], "--key", "no.key")
    assert f"--key: the key in {other[1]} is not that of the certificate in {certificate[0]}" in refused(luabench, "--cert", certificate[0], "--key", other[1])
    assert "has no certificate in PEM form" in refused(luabench, "--cacert", certificate[1])
    assert "--cert: {} has no key that can be used, and no --key is given".format(certificate[0]) in refused(luabench, "--cert", certificate[0])
    secret = tmp_path / "secret.key"
    subprocess.run(["openssl", "ec", "-in", certificate[1], "-aes128", "-passout", "pass:x", "-out", secret], check=True, capture_output=True)
    assert "without a passphrase" in refused(luabench, "--cert", certificate[0], "--key", secret, stdin=subprocess.DEVNULL)


def test_unusable_files_in_a_script(luabench):
    done = luabench.run(script='scenario "s" {\n  target = "https://127.0.0.1:1", http = { ca = "mine.pem" }, run = function() end\n}')
    assert done.returncode == 2
    assert re.search(r'script\.lua:[123]: scenario "s": http: ca: cannot read mine\.pem: No such file', done.stderr), done.stderr


def test_unusable_options(luabench):
    assert "OpenSSL does not know NONSENSE" in luabench.run(
        script='scenario "s" { target = "https://127.0.0.1:1", http = { ciphers = "NONSENSE" }, run = function() end }').stderr
    assert "OpenSSL does not know NONSENSE (" in luabench.run(
        script='scenario "s" { target = "https://127.0.0.1:1", http = { ciphers = "NONSENSE:TLS_AES_128_GCM_SHA256" }, run = function() end }').stderr
    assert "SNI sends names alone" in refused(luabench, "--sni", "127.0.0.1")


def test_dry_run_checks_files_too(luabench):
    assert "cannot read" in refused(luabench, "--cacert", "no.pem", "--dry-run")
