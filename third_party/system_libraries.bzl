"""The distribution's libraries as Bazel targets, with link flags from pkg-config.

`@system//:NAME` is a cc_library without sources: headers come from the
compiler's own search path, libraries from pkg-config, so one description fits
every distribution release that carries the packages. What has no pkg-config
module is headers only, or a single file such as a script: `@system//:FILE_NAME`.

Optional libraries may be missing. `only_with("NAME")` and `if_available("NAME", deps)`
of `@system//:optional.bzl` leave out what needs them, and C++ code tests
DISTBENCH_HAS_NAME, which optional_libraries.h of `@system//:optional_libraries`
defines as 0 or 1. DISTBENCH_WITHOUT=NAME,... in the environment leaves out libraries
that are installed.

COMPILER_IS_GCC of `@system//:compiler.bzl` tells what the environment's CC, without it
gcc, calls itself.
"""

_BUILD_LIBRARY = """
cc_library(
    name = "{name}",
    defines = {defines},
    linkopts = {linkopts},
)
"""

_OPTIONAL_BZL = """
_AVAILABLE = {available}

def only_with(library):
    \"\"\"For target_compatible_with: skips the target if the library is missing.\"\"\"
    return [] if _AVAILABLE[library] else ["@platforms//:incompatible"]

def if_available(library, values):
    return values if _AVAILABLE[library] else []
"""

_OPTIONAL_LIBRARY = """
cc_library(
    name = "optional_libraries",
    hdrs = ["optional_libraries.h"],
    includes = ["."],
)
"""

def _unique_last(flags):
    """Drops repeated flags but keeps the last of each: a linker reads left to right."""
    seen = {}
    kept = []
    for flag in reversed(flags):
        if flag not in seen:
            seen[flag] = True
            kept.append(flag)
    return reversed(kept)

def _pkg_config(repository_ctx, option, modules):
    result = repository_ctx.execute(["pkg-config", option] + modules)
    if result.return_code != 0:
        fail(("pkg-config %s %s failed: %s\nRun scripts/install_deps.sh, which installs " +
              "every package that the build needs.") %
             (option, " ".join(modules), result.stderr.strip()))
    return [flag for flag in result.stdout.strip().split(" ") if flag]

def _link_flags(repository_ctx, modules):
    flags = _pkg_config(repository_ctx, "--libs", modules)

    # Groups such as -Wl,--push-state ... -Wl,--pop-state have no meaning once
    # repeated libraries are dropped; all libraries in them are needed anyway.
    return _unique_last([flag for flag in flags if not flag.startswith("-Wl,")])

def _library(repository_ctx, name, modules):
    """Returns the target of a library that is installed."""
    defines = [
        flag[2:]
        for flag in _pkg_config(repository_ctx, "--cflags", modules)
        if flag.startswith("-D")
    ]
    return _BUILD_LIBRARY.format(
        name = name,
        defines = repr(defines),
        linkopts = repr(_link_flags(repository_ctx, modules)),
    )

def _left_out(repository_ctx):
    """Returns the names in DISTBENCH_WITHOUT."""
    known = repository_ctx.attr.optional_modules.keys()
    names = [
        name
        for name in repository_ctx.os.environ.get("DISTBENCH_WITHOUT", "").split(",")
        if name
    ]
    for name in names:
        if name not in known:
            fail("DISTBENCH_WITHOUT: there is no optional library \"%s\"; there are %s" %
                 (name, ", ".join(known)))
    return names

def _is_installed(repository_ctx, modules):
    return repository_ctx.execute(["pkg-config", "--exists"] + modules).return_code == 0

def _optional_libraries(repository_ctx):
    """Writes optional.bzl and the header. Returns targets, those of missing libraries empty."""
    left_out = _left_out(repository_ctx)
    available = {}
    header = ["#pragma once\n"]
    build = [_OPTIONAL_LIBRARY]
    for name, modules in repository_ctx.attr.optional_modules.items():
        is_available = name not in left_out and _is_installed(repository_ctx, modules)
        available[name] = is_available
        header.append("#define DISTBENCH_HAS_{} {}\n".format(
            name.upper(),
            1 if is_available else 0,
        ))
        if is_available and name not in repository_ctx.attr.loaded_at_run_time:
            build.append(_library(repository_ctx, name, modules))
        else:
            build.append(_BUILD_LIBRARY.format(name = name, defines = "[]", linkopts = "[]"))
    repository_ctx.file("optional.bzl", _OPTIONAL_BZL.format(available = repr(available)))
    repository_ctx.file("optional_libraries.h", "".join(header))
    return build

def _require(repository_ctx, path):
    if not repository_ctx.path(path).exists:
        fail(("%s is missing. Run scripts/install_deps.sh, which installs every package " +
              "that the build needs.") % path)

def _link_file(repository_ctx, path):
    """Gives the file its own name in the repository, and returns that."""
    _require(repository_ctx, path)
    name = path.split("/")[-1]
    repository_ctx.symlink(path, name)
    return name

def _compiler_is_gcc(repository_ctx):
    compiler = repository_ctx.os.environ.get("CC", "gcc")
    said = repository_ctx.execute([compiler, "--version"])
    return said.return_code == 0 and "Free Software Foundation" in said.stdout

def _system_libraries_impl(repository_ctx):
    if not repository_ctx.which("pkg-config"):
        fail("pkg-config is missing. Run scripts/install_deps.sh, which installs " +
             "every package that the build needs.")
    build = ["package(default_visibility = [\"//visibility:public\"])\n"]
    for name, modules in repository_ctx.attr.modules.items():
        build.append(_library(repository_ctx, name, modules))
    build += _optional_libraries(repository_ctx)
    for name, header in repository_ctx.attr.headers.items():
        _require(repository_ctx, header)
        build.append(_BUILD_LIBRARY.format(name = name, defines = "[]", linkopts = "[]"))
    files = [_link_file(repository_ctx, path) for path in repository_ctx.attr.files]
    build.append("exports_files({})\n".format(repr(files)))
    repository_ctx.file("BUILD", "".join(build))
    repository_ctx.file(
        "compiler.bzl",
        "COMPILER_IS_GCC = {}\n".format(_compiler_is_gcc(repository_ctx)),
    )

system_libraries = repository_rule(
    implementation = _system_libraries_impl,
    attrs = {
        "files": attr.string_list(),
        "headers": attr.string_dict(),
        # Optional modules that are not linked.
        "loaded_at_run_time": attr.string_list(),
        "modules": attr.string_list_dict(mandatory = True),
        "optional_modules": attr.string_list_dict(),
    },
    environ = [
        "CC",
        "DISTBENCH_WITHOUT",
    ],
    local = True,
)
