# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

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

def page_test(name, srcs, data = [], has_pictures = False, **kwargs):
    """Makes a test of distbench's pages in a real browser.

    Its cases are skipped on a system without Chromium.

    Args:
      name: the name of the target and of the module with the test cases.
      srcs: Python files, without those that tests of pages share.
      data: other files that the test needs at run time, beside the program.
      has_pictures: whether it compares pictures with those in approved/.
      **kwargs: passed to sh_test.
    """
    if has_pictures:
        srcs = srcs + [
            "//tests/pictures:approved_pictures.py",
            "//tests/pictures:comparison.py",
        ]
        data = data + ["//tests/pictures:fonts.conf"] + native.glob(["approved/*.png"])
    python_test(
        name = name,
        srcs = srcs + [
            "//tests:browser.py",
            "//tests:page_results.py",
            "//tests:programs.py",
            "//tests:report_page.py",
        ],
        data = data + ["//distbench/cli:distbench"],
        # Runs each time: Chromium may have been installed since the last one.
        tags = ["external"],
        **kwargs
    )
