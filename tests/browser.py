"""Starts a headless browser for the tests of HTML pages."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NEEDED = ("chromium", "chromedriver")


@contextmanager
def browser(width: int = 1280, height: int = 960) -> Iterator[webdriver.Chrome]:
    """Start Chromium. If Chromium is missing, the test is skipped; with `CI=true` it fails."""
    missing = [name for name in _NEEDED if shutil.which(name) is None]
    if missing:
        reason = f"{' and '.join(missing)} not found: install chromium and chromium-driver"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={width},{height}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """An open page."""

    def __init__(self, driver: webdriver.Chrome, path: Path) -> None:
        self.driver = driver
        driver.get(path.as_uri())

    def ask(self, expression: str, *arguments: Any) -> Any:
        """Return the value of a JavaScript expression on the page."""
        return self.driver.execute_script(f"return {expression}", *arguments)

    def do(self, statements: str, *arguments: Any) -> None:
        """Run JavaScript statements on the page."""
        self.driver.execute_script(statements, *arguments)

    def find(self, selector: str) -> Any:
        """Return the first element of the page that a CSS selector matches."""
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements of the page that a CSS selector matches."""
        return list(self.ask("Array.from(document.querySelectorAll(arguments[0]), e => e.textContent)", selector))

    def pixels(self) -> str:
        """Return the pixels of the network's drawing as text, by which a test can see if the drawing has changed."""
        return str(self.ask("document.getElementById('network-canvas').toDataURL()"))

    def complaints(self) -> list[Any]:
        """Return the messages on the browser's console."""
        return list(self.driver.get_log("browser"))  # type: ignore[no-untyped-call]
