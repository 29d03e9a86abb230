# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""Headers that are compiled once for all files that include them first.

Two thirds of the time of compiling a file go into reading the headers of protobuf,
Abseil and the standard library. BUILD files therefore load `cc_library`, `cc_binary` and
`cc_test` from one of five files instead of using Bazel's own; these put a header of
//third_party/precompiled in front of each file, and gcc loads what it once made of that:

- //third_party/precompiled:libraries.bzl: the standard library and Abseil
- //third_party/precompiled:configs.bzl: these, and the messages of traffic configs
- //third_party/precompiled:messages.bzl: these, and the messages of results
- //third_party/precompiled:cold_configs.bzl, :cold_messages.bzl: as their namesakes, at
  -O1, which takes gcc a sixth less time; the same compiled headers serve both levels

The right one is the smallest that has what most files of the package include: messages
cost half a second per file that does not need them, because the compiler instantiates
the templates of their accessors in each. The cold ones are for rooms that run once per
command, test or connection: neither for each RPC, nor for each value of a result.

//third_party/precompiled:small.bzl is for those few that instantiate much of libraries
(HTTP, flags) or wait for people: at -Os they are a third smaller, 0.4 MB of 16. gcc's -Os
defines a macro that the compiled headers do not have, so these read their headers.

A header is compiled again when the system's libraries or compiler are upgraded;
system_libraries.bzl says how that is noticed.

Each file includes what it uses all the same: scripts/check_includes compares names with
includes, and a build without precompiled headers, by another compiler or with
--config=plain_headers, shows what that does not know.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "ACTION_NAMES")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("//third_party:here.bzl", "GENERATED")
load("@system//:compiler.bzl", "COMPILER_IS_GCC")

_FOLDER = "third_party/precompiled"

# gcc keeps what the header includes only if it is asked for dependencies.
_AS_HEADER = ["-x", "c++-header", "-MD", "-MF", "/dev/null"]

def _precompile(ctx, toolchain, context, compiled):
    """Declares the action that makes `compiled` of the header, as files are compiled."""
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_compile_variables(
        cc_toolchain = toolchain,
        feature_configuration = features,
        source_file = ctx.file.header.path,
        output_file = compiled.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts +
                             ctx.attr.copts + _AS_HEADER,
        quote_include_directories = context.quote_includes,
        include_directories = context.includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
        use_pic = True,
    )
    action = ACTION_NAMES.cpp_compile
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = action,
        ),
        arguments = cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = action,
            variables = variables,
        ),
        inputs = depset(
            [ctx.file.header],
            transitive = [context.headers, toolchain.all_files],
        ),
        outputs = [compiled],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % ctx.file.header.short_path,
    )

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    libraries = cc_common.merge_cc_infos(
        cc_infos = [library[CcInfo] for library in ctx.attr.deps],
    )

    # gcc looks for NAME.h.gch beside the NAME.h that is included.
    header = ctx.actions.declare_file(ctx.attr.name + ".h")
    ctx.actions.symlink(output = header, target_file = ctx.file.header)
    compiled = ctx.actions.declare_file(ctx.attr.name + ".h.gch")
    _precompile(ctx, toolchain, libraries.compilation_context, compiled)
    own = CcInfo(compilation_context = cc_common.create_compilation_context(
        headers = depset([ctx.file.header, header, compiled]),
    ))

    # Without what the libraries link: who needs that depends on it.
    headers = CcInfo(compilation_context = libraries.compilation_context)
    return [
        cc_common.merge_cc_infos(direct_cc_infos = [own], cc_infos = [headers]),
        DefaultInfo(files = depset([header, compiled])),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "copts": attr.string_list(),
        "_cc_toolchain": attr.label(
            default = Label("@bazel_tools//tools/cpp:current_cc_toolchain"),
        ),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    doc = "A header that is compiled; //third_party/precompiled has them.",
)

def _if_precompiled(values):
    if not COMPILER_IS_GCC:
        return []
    return select({
        "//third_party:plain_headers": [],
        "//conditions:default": values,
    })

# For code that is seldom run; a debug build keeps its own level.
COLD = select({
    "//third_party:optimized": ["-O1"],
    "//conditions:default": [],
})

# For code that is to be small.
SMALL = select({
    "//third_party:optimized": ["-Os"],
    "//conditions:default": [],
})

def with_precompiled(bazels_rule, header, deps = [], copts = [], **kwargs):
    """Calls a rule for C++ with a target of //third_party/precompiled to include first.

    Args:
      bazels_rule: such as native.cc_library.
      header: the name of a precompiled_header.
      deps: of the rule.
      copts: of the rule; those that the header was compiled with are among them.
      **kwargs: passed on.
    """
    bazels_rule(
        deps = deps + _if_precompiled(["//%s:%s" % (_FOLDER, header)]),
        copts = _if_precompiled([
            "-include",
            "%s/%s/%s.h" % (GENERATED, _FOLDER, header),
            # Bazel knows from the listed dependencies when to compile again.
            "-fpch-deps",
            # Says so if flags differ from those of the header, which is slow.
            "-Winvalid-pch",
        ]) + copts,
        **kwargs
    )
