# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The repositories of libraries.bzl, for MODULE.bazel."""

load("//third_party:libraries.bzl", "distribution_libraries")

libraries = module_extension(implementation = lambda _context: distribution_libraries())
