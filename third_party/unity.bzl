"""cc_library and cc_test that compile their sources as one.

Most of the compiler's time goes into headers, and the small files of a folder include
the same ones: as one source they take a third of the time. Names in anonymous
namespaces must then differ within a folder; a folder in which they do not uses Bazel's
own rules. The many files of a large folder become several sources, its `parts`, which
compile side by side. `--define=unity=off` compiles each file by itself, and so shows
whether it includes all that it uses.
"""

def _unit(name, number, srcs):
    """Returns a file that contains the files one after the other."""

    # --per_file_copt knows tests by the end of this name.
    unit = "unity/" + (str(number) + "_" if number else "") + name + ".cc"
    native.genrule(
        name = name + "_unity" + (str(number) if number else ""),
        srcs = srcs,
        outs = [unit],
        cmd = "for source in $(SRCS); do echo \"#line 1 \\\"$$source\\\"\"; " +
              "cat $$source; done >$@",
    )
    return unit

def _as_one(name, srcs, parts = 1):
    """Returns what a rule compiles: the files as `parts` sources."""

    # The files of a select() are not known here.
    if type(srcs) != "list" or len(srcs) < 2:
        return srcs
    size = (len(srcs) + parts - 1) // parts
    units = [
        _unit(name, i // size + 1 if parts > 1 else 0, srcs[i:i + size])
        for i in range(0, len(srcs), size)
    ]
    return select({
        "//third_party:unity_is_off": srcs,
        "//conditions:default": units,
    })

def cc_library(name, srcs = [], parts = 1, **kwargs):
    native.cc_library(name = name, srcs = _as_one(name, srcs, parts), **kwargs)

def cc_test(name, srcs, **kwargs):
    native.cc_test(name = name, srcs = _as_one(name, srcs), **kwargs)
