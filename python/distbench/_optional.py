# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Packages that only some functions need."""

import importlib
from types import ModuleType

from distbench.errors import MissingPackageError


def import_optional(module: str, extra: str, purpose: str) -> ModuleType:
    """Imports a module that may not be installed.

    Args:
        module: its name.
        extra: the extra of this package that installs it.
        purpose: what needs it, as the beginning of a sentence.

    Raises:
        MissingPackageError: says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # It is installed, but something that it needs is not.
        debian = {"grpc": "grpcio"}.get(package, package)
        raise MissingPackageError(
            f"{purpose} needs {package}, which is not installed: "
            f"pip install 'distbench[{extra}]', or apt install python3-{debian}",
            name=module,
        ) from None
