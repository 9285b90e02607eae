"""What a function is told by its environment."""

import pytest

from pointsman.errors import Misconfigured
from pointsman.settings import NOTICES_TOPIC, STATE_MACHINE, Settings

WHOLE = {"JOBS_TABLE": "j", "CONTROL_TABLE": "c", "QUEUE_WAKES_URL": "w", "DEAD_LETTERS_URL": "d"}


def test_settings_are_read_once_into_a_value() -> None:
    assert Settings.from_environment(WHOLE) == Settings("j", "c", "w", "d", None)


def test_a_function_is_told_what_more_it_needs_and_nothing_else() -> None:
    environment = {**WHOLE, "STATE_MACHINE_ARN": "s", "NOTICES_TOPIC_ARN": "n"}
    told = Settings.from_environment(environment, STATE_MACHINE)
    assert (told.state_machine, told.notices_topic) == ("s", "")
    with pytest.raises(Misconfigured, match=r"missing or empty: NOTICES_TOPIC_ARN$"):
        Settings.from_environment(WHOLE, NOTICES_TOPIC)


@pytest.mark.parametrize("url, wanted", [("http://127.0.0.1:5000", "http://127.0.0.1:5000"), ("", None)])
def test_another_address_than_awss_is_used_only_where_one_is_given(url: str, wanted: str | None) -> None:
    assert Settings.from_environment({**WHOLE, "ENDPOINT_URL": url}).endpoint_url == wanted


@pytest.mark.parametrize(
    "environment, words",
    [
        ({}, "JOBS_TABLE, CONTROL_TABLE, QUEUE_WAKES_URL, DEAD_LETTERS_URL"),
        ({**WHOLE, "JOBS_TABLE": ""}, "missing or empty: JOBS_TABLE$"),
        ({k: v for k, v in WHOLE.items() if k != "DEAD_LETTERS_URL"}, "missing or empty: DEAD_LETTERS_URL$"),
    ],
)
def test_everything_that_is_missing_is_named_at_once(environment: dict[str, str], words: str) -> None:
    with pytest.raises(Misconfigured, match=words):
        Settings.from_environment(environment)
