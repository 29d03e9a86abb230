# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""What tests of the dashboard's pages share: a page in a real browser."""

import json
import unittest

from tests import browser
from tests import programs

# A name that tries to become markup.
HOSTILE = "</script><img src=x onerror=\"document.title = 'broken'\">"


def text(selector):
    """The expression of the text of an element."""
    return f"document.querySelector('{selector}').innerText"


def count(selector):
    return f"document.querySelectorAll('{selector}').length"


@unittest.skipUnless(
    browser.CHROMIUM,
    "chromium is not installed (scripts/install_deps.sh --with-browser)",
)
class PageTest(programs.ClusterTest):
    def open_page(self, address, place="", **page_arguments):
        page = browser.Page(self, f"{address}/{place}", **page_arguments)
        page.wait_until(
            "document.body && document.body.dataset.rendered === 'true'"
        )
        return page

    def click(self, page, selector):
        page.wait_until(f"document.querySelector('{selector}') !== null")
        page.evaluate(f"document.querySelector('{selector}').click()")

    def type_into(self, page, selector, value, event):
        page.evaluate(
            f"""(box => {{ box.value = {json.dumps(value)};
            box.dispatchEvent(new Event('{event}')); }})(
            document.querySelector('{selector}'))"""
        )

    def wait_for_text(self, page, selector, part):
        # There may be no such element yet; and innerText of a hidden one is what
        # it would show.
        page.wait_until(
            f"(element => element?.checkVisibility() &&"
            f" element.innerText.includes({json.dumps(part)}))"
            f"(document.querySelector('{selector}'))"
        )

    def wait_for_rows(self, page, number):
        rows = count("#results-table tbody tr")
        page.wait_until(f"{rows} === {number}")

    def reload(self, page):
        page.reload()
        page.wait_until("document.body.dataset.rendered === 'true'")

    def assert_fits_a_phone(self, page):
        page.resize(360, 740)
        page.wait_until("innerWidth === 360")
        page.wait_until("document.documentElement.scrollWidth <= 360")
