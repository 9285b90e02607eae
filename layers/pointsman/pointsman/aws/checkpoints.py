"""The newest checkpoint of a training job, by a look at what lies under its S3 prefix."""

from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from pointsman.aws.faults import Translated
from pointsman.aws.unreadable import understood
from pointsman.errors import Misconfigured

PAGES = 5  # of a listing: what has more objects than that is not known


class S3Checkpoints:
    """Checkpoints in S3; the client is made when it is first needed, which most passes never do."""

    def __init__(self, s3: Callable[[], Any]) -> None:
        """Use the client that this makes."""
        self._s3 = s3

    @understood
    def newest(self, prefix: str) -> float | None:
        """When the newest object under this S3 URI was written, 0 when there is none; None when it cannot be known.

        The URI is that of a folder: what merely begins like it is another job's. A listing is in the order of names, so
        that all of it has to be seen; a bucket that may not be listed, is not there, or has a name that no request may
        bear, makes it unknown. Raises `Transient`.
        """
        scheme, _, place = prefix.partition("://")
        bucket, _, folder = place.partition("/")
        if scheme != "s3" or not bucket:
            return None
        folder = folder.rstrip("/")
        within = f"{folder}/" if folder else ""
        newest, more = 0.0, dict[str, str]()
        for _ in range(PAGES):
            try:
                with Translated():
                    answer = self._s3().list_objects_v2(Bucket=bucket, Prefix=within, **more)
            except (ClientError, BotoCoreError, Misconfigured):
                return None
            for each in answer.get("Contents", ()):
                newest = max(newest, float(each["LastModified"].timestamp()))
            if not answer.get("IsTruncated"):
                return newest
            more = {"ContinuationToken": answer["NextContinuationToken"]}
        return None
