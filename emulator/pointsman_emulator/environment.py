"""What the process's environment must say while the emulator runs, and only then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

ACCOUNT = "123456789012"
REGION = "us-east-1"

FIXED = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_REGION": REGION,
    "AWS_DEFAULT_REGION": REGION,
    # boto3 would route table calls to an address per account, which moto does not answer
    "AWS_ACCOUNT_ID_ENDPOINT_MODE": "disabled",
    "AWS_EC2_METADATA_DISABLED": "true",
    # no file on this machine decides what a test sees
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "MOTO_ACCOUNT_ID": ACCOUNT,
    # functions are created without code in a bucket: the emulator runs the code from its folder
    "MOTO_LAMBDA_STUB_ECR": "true",
    # nobody here looks at machine images, and reading moto's list of them costs a third of a second
    "MOTO_EC2_LOAD_DEFAULT_AMIS": "false",
}
ABSENT = ("AWS_PROFILE", "AWS_ENDPOINT_URL", "MOTO_S3_CUSTOM_ENDPOINTS")


@contextmanager
def replaced(values: dict[str, str], absent: tuple[str, ...] = ()) -> Iterator[None]:
    """Set and unset variables of the environment, and put everything back."""
    before = {name: os.environ.get(name) for name in (*values, *absent)}
    os.environ.update(values)
    for name in absent:
        os.environ.pop(name, None)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
