from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path

import nltk
import pytest
from nltk.corpus.reader import TaggedCorpusReader
from nltk.data import ZipFilePathPointer

from simstudy_learners.tagged import TaggedDocument, read_tagged

FILES = {
    "README": "not word/tag pairs",
    "CONTENTS": "A. ca01",
    "cats.txt": "ca01 news\ncb01 editorial\n",
    "ca01": "\n\n\tHe/pps 's/bez 1/2/cd off/rp ./.\n\n\t//( no/rb\n",
    "cb01": "Up/rp-hl",
}
DOCUMENTS = [
    TaggedDocument(
        "ca01",
        "news",
        [[("He", "pps"), ("'s", "bez"), ("1/2", "cd"), ("off", "rp"), (".", ".")], [("/", "("), ("no", "rb")]],
    ),
    TaggedDocument("cb01", "editorial", [[("Up", "rp-hl")]]),
]


def folder(path: Path, **changes: str | None) -> Path:
    path.mkdir()
    for name, text in {**FILES, **{name.replace("_", "."): text for name, text in changes.items()}}.items():
        if text is not None:
            (path / name).write_bytes(text.encode("latin-1"))
    return path


def packed(path: Path) -> Path:
    archive = path.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w") as file:
        for member in sorted(path.iterdir()):
            file.write(member, f"brown/{member.name}")
    return archive


def test_folder_and_zip_file_have_the_same_documents(tmp_path: Path) -> None:
    path = folder(tmp_path / "brown")
    assert read_tagged(path) == read_tagged(packed(path)) == DOCUMENTS


def test_documents_are_in_the_order_of_the_table_of_contents(tmp_path: Path) -> None:
    path = folder(tmp_path / "brown", cats_txt="cb01 editorial\n\nca01 news")
    assert read_tagged(path) == DOCUMENTS[::-1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ca01": "\n\ta/at b\n"}, "{path}: ca01, line 2: 'b' is not word/tag"),
        ({"cb01": "a/at /at"}, "{path}: cb01, line 1: '/at' is not word/tag"),
        ({"cb01": "a/at b/"}, "{path}: cb01, line 1: 'b/' is not word/tag"),
        ({"cb01": "\n \n"}, "{path}: cb01 is empty"),
        ({"cb01": "a/at\n\xe9/nn"}, "{path}: cb01, line 2: not UTF-8 (byte 0xe9); convert the file to UTF-8"),
        ({"cb01": None}, "{path}: cats.txt, line 2: there is no document 'cb01'"),
        ({"cats_txt": None}, "{path} has no cats.txt, which names the documents and their genres"),
        ({"cats_txt": "\n"}, "{path}: cats.txt is empty"),
        ({"cats_txt": "ca01"}, "{path}: cats.txt, line 1: 'ca01' is not a document and its genre"),
        ({"cats_txt": "ca01 a\n\nca01 b"}, "{path}: cats.txt, line 3: 'ca01' is there already, at line 1"),
    ],
)
def test_broken_corpora(changes: dict[str, str | None], message: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "brown", **changes)
    for corpus in (path, packed(path)):
        with pytest.raises(ValueError, match=".") as error:
            read_tagged(corpus)
        assert str(error.value) == message.format(path=corpus)


def test_what_is_no_zip_file(tmp_path: Path) -> None:
    path = packed(folder(tmp_path / "brown"))
    whole = path.read_bytes()
    middle = whole.index(b"Up/rp-hl")
    for content in (b"ca01 news\n", whole[:-30], whole[:middle] + b"?" + whole[middle + 1 :]):
        path.write_bytes(content)
        with pytest.raises(
            ValueError, match=r"brown.zip( is not a whole zip file|/brown/cb01 cannot be unpacked: .*)$"
        ):
            read_tagged(path)
    with pytest.raises(FileNotFoundError, match="no such file: .*nowhere.zip"):
        read_tagged(tmp_path / "nowhere.zip")


def test_the_brown_corpus_is_as_published(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes: the NLTK book's table of corpora, and the manual's genres. Tokens of some documents: NLTK's own reader."""
    path = shared_data / "nltk" / "brown.zip"
    documents = read_tagged(path)
    assert len(documents) == 500
    assert sum(len(document.sentences) for document in documents) == 57_340
    assert sum(len(sentence) for document in documents for sentence in document.sentences) == 1_161_192
    genres = Counter(document.genre for document in documents)
    assert len(genres) == 15
    # Press: reportage 44, editorial 27, reviews 17; learned 80; humor 9 (Francis and Kucera 1979).
    assert [genres[genre] for genre in ("news", "editorial", "reviews", "learned", "humor")] == [44, 27, 17, 80, 9]
    # NLTK reads from its own folders only.
    monkeypatch.setattr(nltk.data, "path", [str(path.parent)])
    reader = TaggedCorpusReader(ZipFilePathPointer(str(path), "brown/"), r"c[a-r]\d\d", encoding="ascii")
    assert [document.name for document in documents] == reader.fileids()
    for document in documents[::50]:
        # NLTK's reader spells tags in capitals.
        ours = [[(word, tag.upper()) for word, tag in sentence] for sentence in document.sentences]
        assert ours == [list(sentence) for sentence in reader.tagged_sents(document.name)]
