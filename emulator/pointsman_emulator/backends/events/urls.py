"""Where EventBridge answers: as moto's does."""

from moto.events.urls import url_bases, url_paths

__all__ = ["url_bases", "url_paths"]
