"""Files as constants of a program."""

def embed_files(name, srcs):
    """A C++ library with the content of files.

    Its header NAME.h declares an absl::string_view in the namespace distbench
    for each of them, named after the file: kStyleCss for style.css.

    Args:
      name: the target, and the name of its header.
      srcs: the files.
    """
    native.genrule(
        name = name + "_source",
        srcs = srcs,
        outs = [
            name + ".h",
            name + ".cc",
        ],
        cmd = "python3 $(location //third_party:embed_files.py) $(OUTS) $(SRCS)",
        tools = ["//third_party:embed_files.py"],
    )
    native.cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = [name + ".h"],
        deps = ["@system//:absl"],
    )
