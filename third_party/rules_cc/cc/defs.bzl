# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Bazel's built-in C++ rules under the names that rule sets load from rules_cc.

The distribution's rules_cc does not load in the distribution's Bazel, and only
these names are needed here.
"""

cc_binary = native.cc_binary
cc_import = native.cc_import
cc_library = native.cc_library
cc_proto_library = native.cc_proto_library
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
objc_library = native.objc_library

def cc_flags_supplier(**_kwargs):
    """Unused by the targets of this workspace."""

def compiler_flag(**_kwargs):
    """Unused by the targets of this workspace."""
