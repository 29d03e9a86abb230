#!/usr/bin/env python3
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Generates the package distbench._proto from the .proto files.

  generate_protos.py OUT_DIR PROTO...

protoc writes modules that import each other as `proto.NAME_pb2`, by the place of
the .proto files in the repository. A package called `proto` would clash with
others, so the imports become relative. Type stubs (.pyi) are written, too. protoc
of Debian (3.21) writes code that all runtimes from 3.21 on accept.
"""

import pathlib
import re
import subprocess
import sys

_IMPORT = re.compile(r"^from proto import (\w+_pb2) as", re.MULTILINE)


def generate(root: pathlib.Path, names: list[str], out: pathlib.Path) -> None:
    """Writes the modules of the protos `root`/proto/NAME into the folder `out`.

    Raises:
        RuntimeError: protoc is missing, or refused a file.
    """
    out.mkdir(parents=True, exist_ok=True)
    (out / "__init__.py").write_text('"""Generated from proto/*.proto."""\n')
    staging = out / "staging"
    staging.mkdir(exist_ok=True)
    try:
        subprocess.run(
            [
                "protoc",
                f"--proto_path={root}",
                f"--python_out=pyi_out:{staging}",
                *(f"{root}/proto/{name}" for name in names),
            ],
            check=True,
        )
    except FileNotFoundError:
        raise RuntimeError(
            "protoc is not installed: apt install protobuf-compiler"
        ) from None
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"protoc failed with status {error.returncode}") from None
    for path in sorted((staging / "proto").iterdir()):
        text = _IMPORT.sub(r"from . import \1 as", path.read_text())
        if path.suffix == ".pyi":
            # protoc's stubs are not as strict as mypy --strict.
            text = "# mypy: ignore-errors\n" + text
        (out / path.name).write_text(text)
        path.unlink()
    (staging / "proto").rmdir()
    staging.rmdir()


if __name__ == "__main__":
    protos = [pathlib.Path(argument) for argument in sys.argv[2:]]
    generate(
        protos[0].parent.parent,
        [proto.name for proto in protos],
        pathlib.Path(sys.argv[1]),
    )
