"""Certificates for benchmarks with TLS."""

import os
import subprocess

_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")


def make(folder):
    """Makes an authority, and a certificate of localhost that it has signed.

    Returns the flags that name them.
    """
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True,
                       stderr=subprocess.DEVNULL)

    openssl("req", "-x509", *_NEW_KEY, "-days", "2", "-subj", "/CN=benchmark",
            "-keyout", "ca.key", "-out", "ca.crt")
    openssl("req", *_NEW_KEY, "-subj", "/CN=localhost", "-keyout", "tls.key",
            "-out", "tls.csr")
    with open(os.path.join(folder, "tls.ext"), "w", encoding="utf-8") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n"
                   "extendedKeyUsage=serverAuth,clientAuth\n")
    openssl("x509", "-req", "-in", "tls.csr", "-CA", "ca.crt", "-CAkey",
            "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "tls.ext",
            "-out", "tls.crt")
    return [f"--tls_{name}={os.path.join(folder, file)}"
            for name, file in (("ca", "ca.crt"), ("cert", "tls.crt"),
                               ("key", "tls.key"))]
