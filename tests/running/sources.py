"""Sources of functions whose keys are asked."""


def changed(source: str, change: tuple[str, str]) -> str:
    """The source with one text, which is there once, replaced by another."""
    assert source.count(change[0]) == 1
    return source.replace(*change)
