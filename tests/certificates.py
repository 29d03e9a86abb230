# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Certificates for tests, made as described in docs/security.md."""

import os
import subprocess


class Authority:
    """Makes certificates with the commands of docs/security.md."""

    def __init__(self, folder, name):
        self.folder = os.path.join(folder, name)
        os.mkdir(self.folder)
        self._openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
            f" -days 30 -subj /CN={name} -keyout ca.key -out ca.crt"
        )

    def _openssl(self, arguments):
        subprocess.run(
            ["openssl", *arguments.split()],
            cwd=self.folder,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def flags(self, name, subject_names):
        """Makes NAME.crt and NAME.key, and returns the flags that use them."""
        self._openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
            f" -subj /CN={name} -keyout {name}.key -out {name}.csr"
        )
        with open(f"{self.folder}/{name}.ext", "w", encoding="utf-8") as file:
            file.write(f"subjectAltName={subject_names}\n")
            file.write("extendedKeyUsage=serverAuth,clientAuth\n")
        self._openssl(
            f"x509 -req -in {name}.csr -CA ca.crt -CAkey ca.key -CAcreateserial"
            f" -days 30 -extfile {name}.ext -out {name}.crt"
        )
        return [
            f"--tls_ca={self.folder}/ca.crt",
            f"--tls_cert={self.folder}/{name}.crt",
            f"--tls_key={self.folder}/{name}.key",
        ]
