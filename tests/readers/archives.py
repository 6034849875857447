"""Zip files written by hand: Python 3.11 cannot write those that are packed by Zstandard."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

STORED, DEFLATED, ZSTD = 0, 8, 93


def zipped(files: Mapping[str, bytes], method: int = ZSTD) -> bytes:
    """The bytes of a zip file."""
    body, directory = b"", b""
    for name, content in files.items():
        deflate = zlib.compressobj(wbits=-15)
        packed = {
            STORED: lambda data: data,
            DEFLATED: lambda data, deflate=deflate: deflate.compress(data) + deflate.flush(),
            ZSTD: lambda data: pa.compress(data, codec="zstd", asbytes=True),
        }[method](content)
        size = len(content)
        fields = struct.pack("<HHHHIIIHH", 0, method, 0, 33, zlib.crc32(content), len(packed), size, len(name), 0)
        directory += b"PK\1\2" + struct.pack("<HH", 20, 63) + fields
        directory += struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += b"PK\3\4" + struct.pack("<H", 63) + fields + name.encode() + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(files), len(files), len(directory), len(body), 0)
    return body + directory + b"PK\5\6" + end


def eval_log(log: Mapping[str, Any], method: int = ZSTD) -> bytes:
    """An Inspect log in JSON form as the archive that Inspect writes."""
    header = {name: value for name, value in log.items() if name != "samples"}
    files: dict[str, Any] = {"_journal/start.json": {"eval": log["eval"]}}
    # As they finish, which is any order.
    for sample in reversed(log["samples"]):
        files[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = sample
    files |= {"summaries.json": [], "header.json": header}
    return zipped({name: json.dumps(one).encode() for name, one in files.items()}, method)
