# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""As messages.bzl, for code that is seldom run: see precompiled_header.bzl."""

load("//third_party:precompiled_header.bzl", "COLD", "with_precompiled")

def cc_library(copts = [], **kwargs):
    with_precompiled(native.cc_library, "messages", copts = COLD + copts, **kwargs)

def cc_binary(copts = [], **kwargs):
    with_precompiled(native.cc_binary, "messages", copts = COLD + copts, **kwargs)

def cc_test(**kwargs):
    with_precompiled(native.cc_test, "messages_of_tests", **kwargs)
