"""cc_library and cc_test that compile their sources as one.

Most of the compiler's time goes into headers, and the small files of a folder include
the same ones: as one source they take a third of the time. Names in anonymous
namespaces must then differ within a folder; a folder in which they do not uses Bazel's
own rules. `--define=unity=off` compiles each file by itself, and so shows whether it
includes all that it uses.
"""

def _as_one(name, srcs):
    """Returns what a rule compiles: the files one after the other in a single one."""
    if len(srcs) < 2:
        return srcs
    # --per_file_copt knows tests by this name.
    one = "unity/" + name + ".cc"
    native.genrule(
        name = name + "_unity",
        srcs = srcs,
        outs = [one],
        cmd = "for source in $(SRCS); do echo \"#line 1 \\\"$$source\\\"\"; " +
              "cat $$source; done >$@",
    )
    return select({
        "//third_party:unity_is_off": srcs,
        "//conditions:default": [one],
    })

def cc_library(name, srcs = [], **kwargs):
    native.cc_library(name = name, srcs = _as_one(name, srcs), **kwargs)

def cc_test(name, srcs, **kwargs):
    native.cc_test(name = name, srcs = _as_one(name, srcs), **kwargs)
