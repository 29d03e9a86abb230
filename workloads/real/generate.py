#!/usr/bin/env python3
# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Writes test.config and graph.svg of all entries of the library of real traffic.

Usage: workloads/real/generate.py
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import exchanges  # noqa: E402
import graph  # noqa: E402
import microservices  # noqa: E402


def files():
    """Yields the path below this folder, and the content, of each file."""
    for entry in exchanges.ENTRIES + microservices.ENTRIES:
        config = entry().text()
        yield f"{entry.__name__}/test.config", config
        yield f"{entry.__name__}/graph.svg", graph.draw(entry.__name__, config)


def main():
    for path, content in files():
        full_path = os.path.join(HERE, path)
        os.makedirs(os.path.dirname(full_path), exist_ok=True)
        with open(full_path, "w", encoding="utf-8") as file:
            file.write(content)


if __name__ == "__main__":
    main()
