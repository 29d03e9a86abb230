# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Builds the package: the rest is in pyproject.toml.

The wheel contains modules that protoc makes of the repository's .proto files, so
it can be built only within a checkout.
"""

import pathlib
import sys

from setuptools import setup
from setuptools.command.build_py import build_py

_HERE = pathlib.Path(__file__).resolve().parent
_ROOT = _HERE.parent
_PROTOS = (
    "control.proto",
    "data_plane.proto",
    "experiment.proto",
    "joint_distribution.proto",
    "product.proto",
    "results.proto",
    "rules.proto",
    "simulation.proto",
    "traffic_config.proto",
)

sys.path.insert(0, str(_HERE))
from generate_protos import generate  # noqa: E402


class BuildWithProtos(build_py):
    """Also generates distbench._proto: into the build, or beside the sources of
    an editable installation."""

    def run(self):
        super().run()
        base = _HERE if self.editable_mode else pathlib.Path(self.build_lib)
        generate(_ROOT, list(_PROTOS), base / "distbench" / "_proto")


def version():
    path = _ROOT / "VERSION"
    if not path.exists():
        raise SystemExit(
            f"{path} is missing: the package is built within a checkout of "
            "distbench, by python3 -m pip wheel ./python"
        )
    return path.read_text().strip()


setup(version=version(), cmdclass={"build_py": BuildWithProtos})
