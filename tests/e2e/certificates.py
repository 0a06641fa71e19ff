"""Certificates for the tests, made with the openssl program: authorities of our own, and what they sign."""
import subprocess

CONFIG = """
[ca]
default_ca = it
[it]
database = {folder}/index.txt
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = any
copy_extensions = copy
unique_subject = no
[any]
commonName = supplied
"""


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)


class Authority:
    """An authority with its certificate in `path`; `issue` gives the paths of a certificate and its key."""

    def __init__(self, folder):
        folder.mkdir(parents=True)
        self.folder, self.path, self.key = folder, folder / "ca.pem", folder / "ca.key"
        self.config = folder / "ca.conf"
        self.config.write_text(CONFIG.format(folder=folder))
        (folder / "index.txt").write_text("")
        (folder / "serial").write_text("01\n")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key, "-out", self.path,
                "-days", "100", "-subj", f"/CN=authority {folder.name}")

    def issue(self, name, names="DNS:localhost,IP:127.0.0.1,IP:::1", begin="20200101000000Z", end="20400101000000Z"):
        certificate, key, request = (self.folder / f"{name}.{ending}" for ending in ("pem", "key", "csr"))
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}",
                "-addext", f"subjectAltName={names}")
        openssl("ca", "-batch", "-notext", "-config", self.config, "-cert", self.path, "-keyfile", self.key, "-in", request, "-out", certificate,
                "-startdate", begin, "-enddate", end)
        return certificate, key


def self_signed(folder, names="DNS:localhost,IP:127.0.0.1"):
    """A certificate that is its own authority."""
    certificate, key = folder / "self.pem", folder / "self.key"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate, "-days", "100",
            "-subj", "/CN=localhost", "-addext", f"subjectAltName={names}")
    return certificate, key
