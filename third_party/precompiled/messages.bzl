# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Bazel's rules with the precompiled header `messages`: see precompiled_header.bzl."""

load("//third_party:precompiled_header.bzl", "with_precompiled")

def cc_library(**kwargs):
    with_precompiled(native.cc_library, "messages", **kwargs)

def cc_binary(**kwargs):
    with_precompiled(native.cc_binary, "messages", **kwargs)

def cc_test(**kwargs):
    with_precompiled(native.cc_test, "messages_of_tests", **kwargs)
