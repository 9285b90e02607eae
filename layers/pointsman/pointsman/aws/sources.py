"""What versions are made of: images in ECR, artifacts in S3. Only whether they are there is asked for."""

import re
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from pointsman.aws.faults import Translated
from pointsman.aws.unreadable import understood
from pointsman.errors import Gone, Misconfigured
from pointsman.rollouts.observations import Answer

_IMAGE = re.compile(
    r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/(?P<repository>[a-z0-9._/-]+)"
    r"(:(?P<tag>[\w.-]+))?(@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_ARTIFACT = re.compile(r"s3://(?P<bucket>[^/]+)/(?P<key>.*)")
_NO_ANSWER = (Misconfigured, ClientError, BotoCoreError)  # whatever it is, it does not say that it is gone


class EcrS3Sources:
    """Images of one region and of any account, and artifacts."""

    def __init__(self, clients: Any) -> None:
        """Use these clients' `ecr` and `s3`, which are not made before something is asked: most passes ask nothing."""
        self._clients = clients

    @understood
    def image(self, uri: str) -> Answer:
        """Whether the container's image is in its repository."""
        match = _IMAGE.fullmatch(uri)
        if match is None or match["region"] != self._clients.ecr.meta.region_name:
            return Answer.UNKNOWN
        which = {"imageDigest": match["digest"]} if match["digest"] else {"imageTag": match["tag"] or "latest"}
        try:
            with Translated("RepositoryNotFoundException"):
                found = self._clients.ecr.batch_get_image(
                    registryId=match["account"], repositoryName=match["repository"], imageIds=[which]
                )
        except Gone:
            return Answer.NO
        except _NO_ANSWER:
            return Answer.UNKNOWN
        missing = any(failure.get("failureCode") == "ImageNotFound" for failure in found.get("failures", ()))
        return Answer.YES if found.get("images") else Answer.NO if missing else Answer.UNKNOWN

    @understood
    def artifact(self, uri: str) -> Answer:
        """Whether the object is in its bucket; with a slash at the end, whether any begins so.

        It is listed, and not read: the permission is the lesser one, and without it S3 does not tell "gone" from "no".
        """
        match = _ARTIFACT.fullmatch(uri)
        if match is None:
            return Answer.UNKNOWN
        bucket, key = match["bucket"], match["key"]
        try:
            with Translated("NoSuchBucket"):
                found = self._clients.s3.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1)
        except Gone:
            return Answer.NO
        except _NO_ANSWER:
            return Answer.UNKNOWN
        first = [each["Key"] for each in found.get("Contents", ())]
        there = bool(first) if key.endswith("/") or not key else first == [key]  # the shortest key is listed first
        return Answer.YES if there else Answer.NO
