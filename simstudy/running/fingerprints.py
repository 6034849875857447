"""Hashes of what things are, and seeds that follow from them."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def describe(description: Any) -> str:
    """SHA-256 of a JSON value, independent of the order of keys."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def fingerprint(value: Any) -> str:
    """A hash of arrays, text, numbers and estimators by content (not of data frames, which have no one form)."""
    import joblib

    return str(joblib.hash(value, hash_name="sha1"))


def number_of(value: Any) -> int:
    """A number of 64 bits that stands for a text, a number or tuples of them, the same in every process."""
    digest = hashlib.blake2b(repr(value).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def derived_seed(*what: Any) -> int:
    """A seed of 256 bits that is a function of these JSON values, unlike that of any others."""
    return int(describe(list(what)), 16)
