"""Where Lambda answers: as moto's does."""

from moto.awslambda.urls import url_bases, url_paths

__all__ = ["url_bases", "url_paths"]
