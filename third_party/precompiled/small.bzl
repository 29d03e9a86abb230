# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Bazel's rule for code that is to be small: see precompiled_header.bzl."""

load("//third_party:precompiled_header.bzl", "SMALL")

def cc_library(copts = [], **kwargs):
    native.cc_library(copts = SMALL + copts, **kwargs)
