# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""C++ libraries from .proto files, with the protoc and the gRPC plugin of the libraries."""

load("//third_party:here.bzl", "GENERATED", "HERE")
load("//third_party:precompiled_header.bzl", "COLD")
load("@system//:tools.bzl", "GENERATORS", "GRPC_CPP_PLUGIN", "PROTOC")

def _cc_library_from(name, srcs, deps, suffixes, protoc_flags, libraries, is_cold, **kwargs):
    stems = [src[:-len(".proto")] for src in srcs]
    headers = [stem + suffix + ".h" for stem in stems for suffix in suffixes]
    sources = [stem + suffix + ".cc" for stem in stems for suffix in suffixes]
    native.filegroup(
        name = name + "_protos",
        srcs = srcs + [dep + "_protos" for dep in deps],
        visibility = ["//visibility:public"],
    )
    native.genrule(
        name = name + "_codegen",
        # The versions: protoc is upgraded with its library.
        srcs = srcs + [dep + "_protos" for dep in deps] + ["@system//:versions.txt"],
        outs = headers + sources,
        cmd = " ".join(
            ["%s -I%s --cpp_out=%s" % (PROTOC, HERE, GENERATED)] + protoc_flags +
            ["$(location %s)" % src for src in srcs],
        ),
        message = "Generating code from",
        tools = GENERATORS,
    )
    native.cc_library(
        name = name,
        srcs = sources,
        hdrs = headers,
        # Generated code is not ours to lint.
        copts = ["-w"] + (COLD if is_cold else []),
        deps = deps + libraries,
        **kwargs
    )

def cc_proto_sources(name, srcs, deps = [], is_cold = False, **kwargs):
    """Compiles .proto files of this package that define only messages.

    Args:
      name: the cc_library.
      srcs: .proto files; imports are relative to this repository's root.
      deps: other targets of this kind whose protos these import.
      is_cold: whether the generated code is compiled at -O1, which takes gcc a third
        less time; for results, reading then takes 4 % more and writing no more.
      **kwargs: passed to the cc_library, such as visibility.
    """
    _cc_library_from(name, srcs, deps, [".pb"], [], ["@system//:protobuf"], is_cold, **kwargs)

def cc_grpc_library(name, srcs, deps = [], is_cold = False, **kwargs):
    """Compiles .proto files of this package that define services.

    Args: see cc_proto_sources.
    """
    _cc_library_from(
        name,
        srcs,
        deps,
        [".pb", ".grpc.pb"],
        [
            "--grpc_out=" + GENERATED,
            "--plugin=protoc-gen-grpc=$$(command -v %s)" % GRPC_CPP_PLUGIN,
        ],
        ["@system//:grpcpp", "@system//:protobuf"],
        is_cold,
        **kwargs
    )
