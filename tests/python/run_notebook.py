#!/usr/bin/env python3
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Executes a notebook in its folder and writes it with its outputs.

  run_notebook.py NOTEBOOK EXECUTED [PICTURES]

PICTURES is a folder for the plots as files. Exits with 1 if a cell fails.
"""

import base64
import os
import pathlib
import sys

import nbformat
from nbclient import NotebookClient

# Of a single cell; plots take a few seconds on a busy machine.
CELL_SECONDS = 120


def main():
    path, executed = map(pathlib.Path, sys.argv[1:3])
    # Leaves nothing beside the notebook.
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    # Otherwise the kernel warns that it cannot debug Python's own modules.
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    # The interpreter that runs this: an environment may see only the kernel of
    # the distribution, which does not see the environment's packages.
    client.create_kernel_manager().kernel_spec.argv[0] = sys.executable
    client.execute()
    forget_times(notebook)
    nbformat.write(notebook, executed)
    if len(sys.argv) > 3:
        write_pictures(notebook, pathlib.Path(sys.argv[3]))


def forget_times(notebook):
    """Times and the kernel's version differ in each execution."""
    notebook.metadata.get("language_info", {}).pop("version", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)


def write_pictures(notebook, folder):
    folder.mkdir(exist_ok=True)
    outputs = [
        output
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]
    for number, output in enumerate(outputs, 1):
        picture = base64.b64decode(output["data"]["image/png"])
        (folder / f"plot{number}.png").write_bytes(picture)
    print(f"{len(outputs)} plots are in {folder}")


if __name__ == "__main__":
    main()
