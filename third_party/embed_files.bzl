# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Embeds files in a program as constants."""

def embed_files(name, namespace, srcs, visibility = None):
    """Makes a C++ library with the content of files.

    Its header NAME.h declares an absl::string_view for each file, named after the
    file: kStyleCss for style.css.

    Args:
      name: the name of the target and of its header.
      namespace: of the constants, such as distbench::report.
      srcs: the files.
      visibility: of the library.
    """
    native.genrule(
        name = name + "_source",
        srcs = srcs,
        outs = [
            name + ".h",
            name + ".cc",
        ],
        cmd = "python3 $(location //third_party:embed_files.py) " + namespace +
              " $(OUTS) $(SRCS)",
        tools = ["//third_party:embed_files.py"],
    )
    native.cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = [name + ".h"],
        visibility = visibility,
        deps = ["@system//:absl"],
    )
