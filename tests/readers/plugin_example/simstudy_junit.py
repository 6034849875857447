"""Test reports in JUnit's XML, as pytest and many others write them: an item for each test, 1 if it passes."""

from xml.etree import ElementTree

import pandas as pd

from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import read_content
from simstudy.validation import InputError


def read(request: Request) -> LongTable:
    """Read each report as one system; tests that were skipped have no score."""
    rows, places = [], []
    for system, path in request.named_files().items():
        try:
            tests = list(ElementTree.fromstring(read_content(path).encode()).iter("testcase"))
        except ElementTree.ParseError as error:
            raise InputError(f"not XML: {error}", at=path) from None
        for number, test in enumerate(tests, start=1):
            outcomes = {part.tag for part in test}
            if "skipped" not in outcomes:
                rows.append(
                    (system, f"{test.get('classname')}.{test.get('name')}", not outcomes & {"failure", "error"})
                )
                places.append((str(path), number))
    table = pd.DataFrame(rows, columns=["system", "item", "score"]).astype({"score": int})
    return LongTable(table.set_index(pd.MultiIndex.from_tuples(places, names=["file", "test"])), ["score"])


FORMAT = Format("junit", "test reports in JUnit's XML", read, ("*.xml",), scored=True)
