from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.loaders.conllu import read_conllu

TEXT = """\
# newdoc id = d1
# sent_id = d1-1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\t_\t_\t0\troot\t_\t_
2\tn't\tnot\tPART\t_\t_\t1\tadvmod\t_\t_

# sent_id = d1-2
1\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_
1.1\tthere\tthere\tADV\t_\t_\t_\t_\t_\t_
2\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


def test_words_are_the_lines_with_whole_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.conllu").write_text(TEXT)
    first, second = read_conllu(tmp_path / "t.conllu")
    assert (first.id, first.document, first.words, first.tags) == ("d1-1", "d1", ("do", "n't"), ("AUX", "PART"))
    assert (second.document, second.words) == ("d1", ("go", "."))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.conllu has no sentences"),
        (TEXT.replace("1\tgo\tgo", "1 go go"), "t.conllu, sentence at line 7: "),
        (TEXT.replace("# sent_id = d1-2\n", ""), "t.conllu, sentence at line 7: no sent_id"),
        (TEXT + "# sent_id = d1-3\n", "t.conllu, sentence at line 12: no words"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "t.conllu").write_text(text)
    with pytest.raises(ValueError, match=message) as error:
        read_conllu(tmp_path / "t.conllu")
    assert "\n" not in str(error.value)


def test_other_encodings_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "latin.conllu").write_bytes(TEXT.replace("go", "g\xe9").encode("latin-1"))
    with pytest.raises(ValueError, match="latin.conllu is not UTF-8"):
        read_conllu(tmp_path / "latin.conllu")
    with pytest.raises(FileNotFoundError, match=r"no such file: .*none.conllu"):
        read_conllu(tmp_path / "none.conllu")
