"""Python tests, by the distribution's python3 and its packages.

Bazel's own py_test starts its tests with a `python` that distributions no longer
have.
"""

def python_test(name, srcs, data = [], **kwargs):
    """Makes a test that calls testing_main.main().

    Args:
      name: the name of the target and of the module with the test cases.
      srcs: Python files; imports are relative to the workspace's root, or to the
        module's folder.
      data: other files that the test needs at run time.
      **kwargs: passed to sh_test.
    """
    native.sh_test(
        name = name,
        srcs = ["//tests:run_python_test.sh"],
        args = [native.package_name() + "/" + name],
        data = srcs + data + ["//tests:testing_main.py"],
        **kwargs
    )
