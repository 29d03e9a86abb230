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

With --config=prefix, libraries that are installed below DISTBENCH_PREFIX of the
environment come from there, as pkg-config finds them, and all others from the
distribution: another gRPC, for example, with the distribution's Abseil, or with one of its
own. Programs remember the folder of their libraries.

Other targets can take the place of libraries (`replacements`), of whichever kind these are.
Nothing is looked for in the system then, and none of the rest of this page holds for them.

PROTOC and GRPC_CPP_PLUGIN of `@system//:tools.bzl` are how command lines call the generators
of code, of the prefix if it has them; a genrule that does so has GENERATORS as its tools.

COMPILER_IS_GCC of `@system//:compiler.bzl` tells what the environment's CC, without it
gcc, calls itself. PROGRAM_LINKOPTS are for programs that users get. They name first the
libraries that most symbols are of: the dynamic linker looks for each symbol in one library
after another, of which there are some ninety. And they fold functions whose code is the
same, a fifteenth of distbench, where the linker can (gold, which Bazel prefers to others).

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
    hdrs = {hdrs},
    defines = {defines} + [_VERSIONS],
    includes = {includes},
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

_REPLACEMENT = """
cc_library(
    name = "{name}",
    deps = {targets},
)
"""

# What generates code from schemas. The schemas import the last, which protoc finds by itself
# if both are installed.
GENERATOR_NAMES = ["protoc", "grpc_cpp_plugin", "descriptor.proto"]

# What this repository calls the headers of --config=prefix.
_PREFIX_HEADERS = "prefix_include"

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

# Where a prefix may have its modules and libraries.
_LIBRARY_FOLDERS = ["lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"]

def _prefix(repository_ctx):
    """Returns the folder of --config=prefix; None without."""
    if repository_ctx.os.environ.get("DISTBENCH_USE_PREFIX") != "1":
        return None
    prefix = repository_ctx.os.environ.get("DISTBENCH_PREFIX", "").rstrip("/")
    if not prefix.startswith("/"):
        fail("--config=prefix needs DISTBENCH_PREFIX in the environment: the absolute " +
             "path of a folder with libraries, such as /opt/grpc")
    if not _module_folders(repository_ctx, prefix):
        fail("DISTBENCH_PREFIX: %s has no lib/pkgconfig, by which libraries are found" %
             prefix)
    return prefix

def _module_folders(repository_ctx, prefix):
    folders = ["%s/%s/pkgconfig" % (prefix, folder) for folder in _LIBRARY_FOLDERS]
    return [folder for folder in folders if repository_ctx.path(folder).exists]

def _run_pkg_config(repository_ctx, arguments):
    prefix = _prefix(repository_ctx)
    folders = _module_folders(repository_ctx, prefix) if prefix else []
    return repository_ctx.execute(
        ["pkg-config"] + arguments,
        environment = {"PKG_CONFIG_PATH": ":".join(folders)} if folders else {},
    )

def _pkg_config(repository_ctx, option, modules):
    result = _run_pkg_config(repository_ctx, [option] + modules)
    if result.return_code != 0:
        fail(("pkg-config %s %s failed: %s\nRun scripts/install_deps.sh, which installs " +
              "every package that the build needs.") %
             (option, " ".join(modules), result.stderr.strip()))
    return [flag for flag in result.stdout.strip().split(" ") if flag]

# Those that most symbols of a start are of, of programs and of other libraries, and what
# this repository calls them.
_SEARCHED_FIRST = {
    "-lstdc++": None,
    "-lprotobuf": "protobuf",
    "-lgrpc": "grpcpp",
    "-lc": None,
}

def _program_linkopts(repository_ctx):
    replaced = repository_ctx.attr.replacements
    flags = [flag for flag, library in _SEARCHED_FIRST.items() if library not in replaced]
    if _links_with_gold(repository_ctx):
        flags.append("-Wl,--icf=safe")
    return flags

def _link_flags(repository_ctx, modules):
    flags = _pkg_config(repository_ctx, "--libs", modules)

    # Groups such as -Wl,--push-state ... -Wl,--pop-state have no meaning once
    # repeated libraries are dropped; all libraries in them are needed anyway.
    return _unique_last([flag for flag in flags if not flag.startswith("-Wl,")])

def _is_of_prefix(repository_ctx, modules):
    prefix = _prefix(repository_ctx)
    if not prefix:
        return False
    folder = _pkg_config(repository_ctx, "--variable=pcfiledir", modules[:1])[0]
    return folder.startswith(prefix + "/")

def _plain_library(name, linkopts = []):
    """Returns a target that stands for the versions of all libraries, and links these."""
    return _BUILD_LIBRARY.format(
        name = name,
        hdrs = "[]",
        defines = "[]",
        includes = "[]",
        linkopts = repr(linkopts),
    )

def _not_replaced(repository_ctx, libraries):
    """Returns the entries of these, by name, that are looked for in the system."""
    replaced = repository_ctx.attr.replacements
    return {name: value for name, value in libraries.items() if name not in replaced}

def _library(repository_ctx, name, modules):
    """Returns the target of a library that is installed."""
    is_of_prefix = _is_of_prefix(repository_ctx, modules)
    defines = [
        flag[2:]
        for flag in _pkg_config(repository_ctx, "--cflags", modules)
        if flag.startswith("-D")
    ]
    linkopts = _link_flags(repository_ctx, modules)
    if is_of_prefix:
        linkopts += [
            "-Wl,-rpath," + flag[len("-L"):]
            for flag in linkopts
            if flag.startswith("-L")
        ]
    return _BUILD_LIBRARY.format(
        name = name,
        hdrs = "glob([\"%s/**\"])" % _PREFIX_HEADERS if is_of_prefix else "[]",
        defines = repr(defines),
        includes = repr([_PREFIX_HEADERS] if is_of_prefix else []),
        linkopts = repr(linkopts),
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
    return _run_pkg_config(repository_ctx, ["--exists"] + modules).return_code == 0

def _installed_modules(repository_ctx):
    """Returns the pkg-config modules that the build uses or may use."""
    installed = []
    for modules in _not_replaced(repository_ctx, repository_ctx.attr.modules).values():
        installed += modules
    optional = _not_replaced(repository_ctx, repository_ctx.attr.optional_modules)
    for modules in optional.values():
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
        is_replaced = name in repository_ctx.attr.replacements
        is_available = name not in left_out and (
            is_replaced or _is_installed(repository_ctx, modules)
        )
        available[name] = is_available
        header.append("#define DISTBENCH_HAS_{} {}\n".format(
            name.upper(),
            1 if is_available else 0,
        ))
        if is_replaced:
            continue
        if is_available and name not in repository_ctx.attr.loaded_at_run_time:
            build.append(_library(repository_ctx, name, modules))
        else:
            build.append(_plain_library(name))
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

def _links_with_gold(repository_ctx):
    """Returns whether Bazel's own look at the compiler finds gold, too."""
    compiler = repository_ctx.os.environ.get("CC", "gcc")
    result = repository_ctx.execute([compiler, "-fuse-ld=gold", "-Wl,--version"])
    return "GNU gold" in result.stdout

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
    if _prefix(repository_ctx):
        lines.append("prefix %s" % _prefix(repository_ctx))
    text = "".join([line + "\n" for line in lines])
    repository_ctx.file("versions.txt", text)
    return _HEAD.format(number = hash(text))

def _generator(repository_ctx, prefix, name):
    """Returns how a genrule's command line names it."""
    target = repository_ctx.attr.generators.get(name)
    if target:
        return "$(execpath %s)" % target
    path = "%s/bin/%s" % (prefix, name)
    return path if prefix and repository_ctx.path(path).exists else name

def _generators(repository_ctx):
    """Writes tools.bzl."""
    prefix = _prefix(repository_ctx)
    protoc = _generator(repository_ctx, prefix, "protoc")
    descriptor = repository_ctx.attr.generators.get("descriptor.proto")
    if descriptor:
        # Of its folder google/protobuf.
        protoc += " -I$$(dirname $(execpath %s))/../.." % descriptor
    repository_ctx.file("tools.bzl", "".join([
        "PROTOC = %r\n" % protoc,
        "GRPC_CPP_PLUGIN = %r\n" % _generator(repository_ctx, prefix, "grpc_cpp_plugin"),
        "GENERATORS = %r\n" % repository_ctx.attr.generators.values(),
    ]))

def _replacements(repository_ctx):
    """Returns the targets that take the place of libraries."""
    known = repository_ctx.attr.modules.keys() + repository_ctx.attr.optional_modules.keys()
    known += repository_ctx.attr.headers.keys() + repository_ctx.attr.without_module.keys()
    build = []
    for name, targets in repository_ctx.attr.replacements.items():
        if name not in known:
            fail("there is no library \"%s\" to replace; there are %s" %
                 (name, ", ".join(sorted(known))))
        build.append(_REPLACEMENT.format(name = name, targets = repr(targets)))
    return build

def _system_libraries_impl(repository_ctx):
    if not repository_ctx.which("pkg-config"):
        fail("pkg-config is missing. Run scripts/install_deps.sh, which installs " +
             "every package that the build needs.")
    if _prefix(repository_ctx):
        repository_ctx.symlink(_prefix(repository_ctx) + "/include", _PREFIX_HEADERS)
    _generators(repository_ctx)
    attr = repository_ctx.attr
    build = [_versions(repository_ctx, _installed_modules(repository_ctx))]
    build += _replacements(repository_ctx)
    for name, modules in _not_replaced(repository_ctx, attr.modules).items():
        build.append(_library(repository_ctx, name, modules))
    for name, linkopts in _not_replaced(repository_ctx, attr.without_module).items():
        build.append(_plain_library(name, linkopts))
    build += _optional_libraries(repository_ctx)
    for name, header in _not_replaced(repository_ctx, attr.headers).items():
        _require(repository_ctx, header)
        build.append(_plain_library(name))
    files = [_link_file(repository_ctx, path) for path in attr.files]
    build.append("exports_files({})\n".format(repr(files)))
    repository_ctx.file("BUILD", "".join(build))
    repository_ctx.file(
        "compiler.bzl",
        "COMPILER_IS_GCC = {}\nPROGRAM_LINKOPTS = {}\n".format(
            "Free Software Foundation" in _compiler_version(repository_ctx),
            repr(_program_linkopts(repository_ctx)),
        ),
    )

system_libraries = repository_rule(
    implementation = _system_libraries_impl,
    attrs = {
        "files": attr.string_list(),
        # Of GENERATOR_NAMES -> labels.
        "generators": attr.string_dict(),
        "headers": attr.string_dict(),
        # Optional modules that are not linked.
        "loaded_at_run_time": attr.string_list(),
        "modules": attr.string_list_dict(mandatory = True),
        "optional_modules": attr.string_list_dict(),
        # Bazel target -> labels of what takes the library's place.
        "replacements": attr.string_list_dict(),
        # Bazel target -> what links a library that pkg-config does not know.
        "without_module": attr.string_list_dict(),
    },
    environ = [
        "CC",
        "DISTBENCH_PREFIX",
        "DISTBENCH_USE_PREFIX",
        "DISTBENCH_WITHOUT",
    ],
    local = True,
)

def _dpkg_status_impl(repository_ctx):
    repository_ctx.symlink("/var/lib/dpkg/status", "status")
    repository_ctx.file("BUILD", "exports_files([\"status\"])\n")

# What system_libraries watches; left alone where there is no dpkg.
dpkg_status = repository_rule(implementation = _dpkg_status_impl)
