# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

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

Bazel does not look at the system's headers and libraries. What uses one therefore has a
number on its command lines, of the compiler and of the linker, that differs after an
upgrade: it stands for the lines of `@system//:versions.txt`, which name the versions of the
compiler, of the libraries and of their packages. Code that the system's programs generate
depends on that file. Bazel looks for new versions

- with dpkg: in each build, if any package was installed, upgraded or removed since;
- without dpkg: when its server starts, and a rebuilt package of the same version goes
  unnoticed.

Not covered are libraries that somebody put in place of the packages' under the same
version, and the folders of a new gcc release (12, 13, ...), of which Bazel's own rules keep
what they once found: those need `bazel sync --configure`.
"""

_BUILD_LIBRARY = """
cc_library(
    name = "{name}",
    defines = {defines} + [_VERSIONS],
    linkopts = {linkopts} + ["-D" + _VERSIONS],
)
"""

# Of the BUILD file. It has the versions as a number: they are long.
_HEAD = """
package(default_visibility = ["//visibility:public"])

exports_files(["versions.txt"])

_VERSIONS = "DISTBENCH_SYSTEM_VERSIONS={number}"
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

# Of the packages of the C library and of the kernel's headers.
_HEADERS_OF_C = ["/usr/include/stdio.h", "/usr/include/linux/version.h"]

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

def _installed_modules(repository_ctx):
    """Returns the pkg-config modules that the build uses or may use."""
    installed = []
    for modules in repository_ctx.attr.modules.values():
        installed += modules
    for modules in repository_ctx.attr.optional_modules.values():
        if _is_installed(repository_ctx, modules):
            installed += modules
    return installed

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

def _compiler_version(repository_ctx):
    compiler = repository_ctx.os.environ.get("CC", "gcc")
    return repository_ctx.execute([compiler, "--version"]).stdout

def _lines(text):
    return [line for line in text.split("\n") if line]

def _packages(repository_ctx, modules):
    """Returns lines "PACKAGE VERSION" of what dpkg installed, nothing without dpkg."""
    if not repository_ctx.which("dpkg-query"):
        return []

    # Runs this rule again when the file changes. A path that is not a label would not.
    repository_ctx.path(Label("@dpkg//:status"))
    files = _HEADERS_OF_C + repository_ctx.attr.files + repository_ctx.attr.headers.values()
    for module in modules:
        folder = _pkg_config(repository_ctx, "--variable=pcfiledir", [module])[0]
        files.append("%s/%s.pc" % (folder, module))

    # Fails for files of no package, and prints those of the others.
    owners = repository_ctx.execute(["dpkg-query", "--search"] + files).stdout
    names = []
    for line in _lines(owners):
        names += line.rpartition(": ")[0].split(", ")
    if not names:
        return []
    return _lines(repository_ctx.execute(
        ["dpkg-query", "--show", "--showformat=${Package} ${Version}\\n"] +
        sorted({name: True for name in names}.keys()),
    ).stdout)

def _versions(repository_ctx, modules):
    """Writes versions.txt, with these pkg-config modules. Returns the BUILD file's head."""
    lines = _lines(_compiler_version(repository_ctx)) + _packages(repository_ctx, modules)
    for module in modules:
        version = _pkg_config(repository_ctx, "--modversion", [module])
        lines.append("%s %s" % (module, " ".join(version)))
    text = "".join([line + "\n" for line in lines])
    repository_ctx.file("versions.txt", text)
    return _HEAD.format(number = hash(text))

def _system_libraries_impl(repository_ctx):
    if not repository_ctx.which("pkg-config"):
        fail("pkg-config is missing. Run scripts/install_deps.sh, which installs " +
             "every package that the build needs.")
    build = [_versions(repository_ctx, _installed_modules(repository_ctx))]
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
        "COMPILER_IS_GCC = {}\n".format(
            "Free Software Foundation" in _compiler_version(repository_ctx),
        ),
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
