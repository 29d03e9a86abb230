# Copyright distbench authors
# SPDX-License-Identifier: Apache-2.0

"""A headless browser, driven by its DevTools protocol over a pipe."""

import base64
import contextlib
import json
import os
import select
import shutil
import time

from tests import programs

CHROMIUM = shutil.which("chromium")


@contextlib.contextmanager
def owner():
    """Yields an owner of pages that no test opens."""
    test = programs.ProgramTest()
    test.setUp()
    try:
        yield test
    finally:
        test.doCleanups()


class BrowserError(AssertionError):
    """The browser did not do what it was told."""


class Page:
    """A page in its own browser, with all its complaints and its network
    requests."""

    def __init__(self, test, url, dark=False, size=None, environment=None):
        """test: a ProgramTest, which ends the browser if nothing else does.
        size: width and height of the window. environment: more variables."""
        commands, self._to_browser = os.pipe()
        self._from_browser, events = os.pipe()
        scheme = 0 if dark else 1
        # The browser reads from descriptor 3 and writes to 4.
        self._program = test.start(
            "bash",
            "-c",
            f'exec "$@" 3<&{commands} 4>&{events}',
            "browser",
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--window-size=1280,1000",
            f"--blink-settings=preferredColorScheme={scheme}",
            "--disable-lcd-text",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            "--lang=en-US",
            f"--user-data-dir={test.path('browser')}",
            "--remote-debugging-pipe",
            pass_fds=(commands, events),
            env=test.environment(**(environment or {})),
        )
        os.close(commands)
        os.close(events)
        self._pending = b""
        self._last_id = 0
        self._session = None
        self.complaints = []
        self.requests = []
        self._open(url, size)

    def _open(self, url, size):
        made = self._call("Target.createTarget", url="about:blank")
        attached = self._call(
            "Target.attachToTarget", targetId=made["targetId"], flatten=True
        )
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        if size is not None:
            self.resize(*size)
        self._call("Page.navigate", url=url)

    def _call(self, method, **parameters):
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read_message()
            if answer.get("id") == self._last_id:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _read_message(self):
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while b"\0" not in self._pending:
            ready, _, _ = select.select(
                [self._from_browser], [], [], max(0, end - time.monotonic())
            )
            chunk = os.read(self._from_browser, 1 << 20) if ready else b""
            if not chunk:
                raise AssertionError("the browser does not answer")
            self._pending += chunk
        message, self._pending = self._pending.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"])
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(parameters["args"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def evaluate(self, expression):
        """Returns the value of a JavaScript expression, or of its promise."""
        result = self._call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_until(self, expression):
        """Waits until a JavaScript expression is true. It must not be true
        before that which is waited for."""
        self._wait(lambda: self._is_true(expression), expression)

    def _is_true(self, expression):
        try:
            return self.evaluate(expression)
        except BrowserError:
            return False  # The page is being left for another one.

    def _wait(self, condition, what):
        end = time.monotonic() + programs.DEADLINE_SECONDS
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"never true: {what}; {self.complaints}")
            select.select([], [], [], 0.05)

    def wait_for(self, condition, what):
        """Waits until a function returns true, of which the page knows
        nothing, and hears what the page does meanwhile."""

        def holds():
            self.evaluate("0")
            return condition()

        self._wait(holds, what)

    def downloaded(self, path):
        """Waits for a file that the page saves, and returns its content. The
        browser writes it under another name."""
        self.wait_for(lambda: os.path.exists(path), path)
        with open(path, "rb") as file:
            return file.read()

    def reload(self):
        """Loads the page again, and waits until it is loaded. An event that a
        page was loaded may still be that of the old one."""
        self.evaluate("window.isOld = true")
        self._call("Page.reload")
        self.wait_until(
            "window.isOld === undefined && document.readyState === 'complete'"
        )

    def resize(self, width, height):
        """Makes the window that of a phone or a tablet."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def _show_changes(self):
        """Waits until the browser has drawn what has changed."""
        self.evaluate(
            "new Promise(resolve => requestAnimationFrame("
            "() => requestAnimationFrame(() => setTimeout(resolve))))"
        )

    def print_colors(self):
        """Shows the page as on paper, and waits until charts have followed."""
        self._call("Emulation.setEmulatedMedia", media="print")
        self.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        self._show_changes()

    def picture(self, x, y, width, height):
        """Returns a part of the page, also below the window, as PNG. The window
        becomes as high as the page: what is below it may be without charts."""
        self.resize(
            *self.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        )
        self._show_changes()
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        taken = self._call("Page.captureScreenshot", clip=clip)
        return base64.b64decode(taken["data"])

    def allow_downloads(self, folder):
        self._call(
            "Browser.setDownloadBehavior",
            behavior="allow",
            downloadPath=folder,
        )

    def _mouse(self, kind, x, y, **parameters):
        self._call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left",
            **parameters,
        )

    def drag(self, y, from_x, to_x):
        self._mouse("mousePressed", from_x, y, clickCount=1)
        self._mouse("mouseMoved", to_x, y, buttons=1)
        self._mouse("mouseReleased", to_x, y, clickCount=1)

    def press(self, key, text=None):
        """Presses a key, which types the text, if any."""
        typed = {} if text is None else {"text": text}
        self._call(
            "Input.dispatchKeyEvent", type="keyDown", key=key, **typed
        )
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def close(self):
        self._call("Browser.close")
        self._program.wait()
        os.close(self._to_browser)
        os.close(self._from_browser)
