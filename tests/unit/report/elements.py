"""What a page is made of, as a browser takes it."""

import re
from html.parser import HTMLParser


class Elements(HTMLParser):
    """Counts a page's elements, and keeps what a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.run: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.run += [name for name, _ in attrs if name.startswith("on")]
        self.run += [value for _, value in attrs if value and value.strip().lower().startswith("javascript:")]


def elements(text: str) -> Elements:
    found = Elements()
    found.feed(re.sub(r"<script(?! type=.application/json).*?</script>", "<script></script>", text, flags=re.DOTALL))
    return found
