# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""The repositories of libraries.bzl, for MODULE.bazel.

Without tags, libraries are the distribution's. A root module may name others, of Bazel's
registry for example; third_party/registry/MODULE.bazel does so:

    libraries = use_extension("@distbench//third_party:extensions.bzl", "libraries")
    libraries.replace(library = "zstd", targets = ["@zstd"])
    libraries.generate_with(name = "protoc", target = "@protobuf//:protoc")
"""

load("//third_party:libraries.bzl", make_libraries = "libraries")
load("//third_party:system_libraries.bzl", "GENERATOR_NAMES")

_replace = tag_class(
    attrs = {
        "library": attr.string(mandatory = True, doc = "As @system calls it."),
        "targets": attr.label_list(mandatory = True),
    },
)

_generate_with = tag_class(
    attrs = {
        "name": attr.string(mandatory = True, values = GENERATOR_NAMES),
        "target": attr.label(mandatory = True),
    },
)

def _libraries_impl(context):
    replacements = {}
    generators = {}
    for module in context.modules:
        # There is one set of libraries, of which the build's owner decides.
        if module.is_root:
            for tag in module.tags.replace:
                replacements[tag.library] = [str(target) for target in tag.targets]
            for tag in module.tags.generate_with:
                generators[tag.name] = str(tag.target)
    make_libraries(replacements, generators)

libraries = module_extension(
    implementation = _libraries_impl,
    tag_classes = {"replace": _replace, "generate_with": _generate_with},
)
