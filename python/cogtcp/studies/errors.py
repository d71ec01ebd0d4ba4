"""The error of a study."""

from __future__ import annotations

from cogtcp._errors import UsageError


class StudyError(UsageError):
    """A study or claim that does not exist, or a study folder that says something wrong."""
