"""Files with random damage, and what may come of reading one."""

import traceback


def damaged(rng, whole):
    """Return the bytes with some flipped, cut out, doubled or replaced."""
    content = bytearray(whole)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(0, len(content)))
        match rng.integers(0, 6):
            case 0 | 1 | 2:
                content[place] ^= 1 << int(rng.integers(0, 8))
            case 3:
                content[place] = int(rng.integers(0, 256))
            case 4:
                del content[place : place + int(rng.integers(1, 9))]
            case _:
                content[place:place] = content[place : place + int(rng.integers(1, 9))]
        if not content:
            return bytes(whole[:1])
    return bytes(content)


def cut_short(rng, whole):
    """Return the beginning of the bytes, or nothing."""
    return whole[: int(rng.integers(0, len(whole)))]


def sentence_or_value(path, read):
    """Read a file; return what it gives, None if it was refused in one sentence.

    Raises
    ------
    AssertionError
        If it was refused by an error of another kind, that names no file, or in more
        than a sentence.
    """
    try:
        return read(path)
    except Exception as error:
        refusal, raw = error, traceback.format_exc()
    said = str(refusal)
    assert isinstance(refusal, (ValueError, OSError)), raw
    assert not isinstance(refusal, UnicodeError), raw
    assert path.name in said, raw
    assert len(said.splitlines()) == 1, raw
    assert len(said) < 600, raw
    return None
