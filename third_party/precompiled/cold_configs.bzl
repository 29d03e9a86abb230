# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""As configs.bzl, for code that is seldom run: see precompiled_header.bzl."""

load("//third_party:precompiled_header.bzl", "COLD", "with_precompiled")

def cc_library(copts = [], **kwargs):
    with_precompiled(native.cc_library, "configs", copts = COLD + copts, **kwargs)

def cc_binary(copts = [], **kwargs):
    with_precompiled(native.cc_binary, "configs", copts = COLD + copts, **kwargs)

def cc_test(**kwargs):
    with_precompiled(native.cc_test, "configs_of_tests", **kwargs)
