"""Files that hold models."""

import hashlib
import io
import json
import os
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from quorate._atomic import atomic_write
from quorate._files._trust import (
    find_moved_classes,
    public_name,
    schema_nodes,
    untrusted_types,
    why_unsafe,
)
from quorate._messages import in_short, warn
from quorate._serving import CompactModel
from quorate._trees import CompactClassifier
from quorate._version import versions
from quorate.exceptions import FileFormatError, VersionWarning

_FORMAT = "quorate-model/1"
_NOTE = "quorate.json"
_COMPACT = ".quorate"
_PICKLES = (".pkl", ".pickle", ".joblib", ".sav")
# First byte of pickles since protocol 2. Older and compressed pickles have no such
# mark; without the extension of a pickle they are refused as unknown files.
_PICKLE_STARTS = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
_ZIP_START = b"PK\x03\x04"
# Models compress to a third or a tenth. A file that expands to far more is a
# decompression bomb; below this many bytes it is harmless.
_MOST_GROWTH, _NEVER_TOO_MUCH = 100, 2**28


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that can be loaded without running code from it.

    The file is in skops format, with an additional entry for package versions and a
    checksum. Compact models have their own format (arrays and a digest), which
    :func:`quorate.serving.load` reads with NumPy alone. Files are written atomically:
    an interrupted save leaves the old file unchanged.

    Parameters
    ----------
    model : object
        A classifier, or a list or dict of classifiers, fitted or not. Any object that
        skops can store is accepted.
    path : path
        Path of the file, usually with the extension ``.skops``; compact models require
        ``.quorate``. Extensions of pickles (``.pkl``, ``.pickle``, ``.joblib``,
        ``.sav``) are refused.

    Raises
    ------
    TypeError
        If part of the model cannot be stored, or would not be restored unchanged.

    See Also
    --------
    load : Load the file.

    Examples
    --------
    >>> import os, tempfile, quorate
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0], [1]], ["no", "yes"])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.skops")
    >>> quorate.save(model, path)
    >>> quorate.load(path).predict([[1]])
    array(['yes'], dtype='<U3')
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            "save(model, path): the path must be a str or a path, got "
            f"{type(path).__name__}; the model comes first."
        )
    file = Path(path)
    if file.suffix.lower() in _PICKLES:
        raise ValueError(
            f"{file}: models are not stored as pickles; use a name that ends in .skops."
        )
    is_compact = isinstance(model, CompactModel)
    if is_compact != (file.suffix.lower() == _COMPACT):
        what, suffix = ("a compact", _COMPACT) if is_compact else ("this", ".skops")
        raise ValueError(
            f"{file}: {what} model must be stored under a name that ends in {suffix}"
            f"{'' if is_compact else '; quorate.compact(model) makes a compact one'}."
        )
    if is_compact:
        model.save(file)
        return
    from skops import io as skops

    kind = type(model).__name__
    try:
        data = skops.dumps(model, compression=zipfile.ZIP_DEFLATED)
        # skops stores objects that it cannot restore: lambdas, local classes, slots.
        # The data read here was created here, so it is trusted.
        skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    except Exception as error:
        # __reduce__ and __setstate__ of the parts can raise anything.
        raise TypeError(
            f"{file}: {kind} cannot be stored ({_reason(error)})."
        ) from error
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        lost = _lost_keys(json.loads(archive.read("schema.json")))
        if lost:
            raise TypeError(f"{file}: {kind} cannot be stored: {lost}.")
        note = {
            "format": _FORMAT,
            "versions": versions("scikit-learn", "numpy", "skops"),
            "sha256": _checksum(archive),
        }
        archive.writestr(_NOTE, json.dumps(note, indent=2))
    with atomic_write(file) as target:
        target.write(buffer.getbuffer())


def load(
    path: str | os.PathLike[str],
    trusted: Iterable[str | type] = (),
    *,
    unsafe_pickle: bool = False,
) -> Any:
    """Load a model written by :func:`save` or by skops.

    Everything is checked before any object is created: the file type, its format, its
    checksum, and that each type it needs is trusted by default or listed in
    ``trusted``. Trusted by default are the types that skops trusts and a list of types
    that only hold data: trees and other parts of scikit-learn, and quorate's own models
    and methods. They are never called with data from the file; only their attributes
    are set. Trees, with which a forged file could crash ``predict``, are validated
    before the model is returned. Models with other compiled parts, which are not
    validated, have to be trusted: support vector machines, gradient boosting, KD and
    ball trees. The checksum detects damage; it does not authenticate the author of the
    file.

    Parameters
    ----------
    path : path
        A file written by :func:`save`, ``quorate compact`` or ``skops.io.dump``.
    trusted : iterable of str or type
        Additional types that may be created, such as your own classes, by the name by
        which you import them (``"sklearn.svm.SVC"``) or as types. The error message
        lists the types that a file needs.
    unsafe_pickle : bool
        Whether to load pickle and joblib files, too. Loading one runs any code in it,
        with all your permissions, before anything can be checked; ``trusted`` has no
        effect. Use this only for files that you wrote yourself.

    Returns
    -------
    object
        The model.

    Raises
    ------
    FileFormatError
        If the file is damaged, not a model, of a newer format, or a pickle, or if it
        needs types that are not trusted.

    Warns
    -----
    VersionWarning
        If another version of quorate or of scikit-learn wrote the file.

    Examples
    --------
    >>> import os, tempfile, quorate
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> path = os.path.join(tempfile.mkdtemp(), "tree.skops")
    >>> model = DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])
    >>> quorate.save(model, path)
    >>> quorate.load(path).predict([[1]])
    array(['yes'], dtype='<U3')
    """
    file = Path(path)
    approved = _type_names(trusted)
    with open(file, "rb") as source:
        if source.read(8) == CompactModel.file_start:
            return CompactClassifier.load(file)
    if not check_kind(file, unsafe_pickle=unsafe_pickle):
        import joblib

        return _build(file, lambda: joblib.load(file))
    from skops import io as skops

    # Read once, so that the checked bytes are the ones used even if the file changes.
    data = file.read_bytes()
    note = _check_archive(file, data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            schema = json.loads(archive.read("schema.json"))
        if find_moved_classes(schema):
            data = _with_schema(data, schema)
        unknown = set(skops.get_untrusted_types(data=data))
    except Exception as error:
        # A forged schema can make skops raise anything; no object has been created yet.
        raise _damage_error(file, error) from error
    untrusted = untrusted_types(schema, unknown, approved)
    if untrusted:
        raise FileFormatError(
            f"{file}: the model needs types that are not trusted: "
            f"{', '.join(untrusted)}; list those that you trust with trusted=[...] or "
            "--trust TYPE."
        )
    model = _build(file, lambda: skops.loads(data, trusted=sorted(unknown)), note)
    fault = why_unsafe(model)
    if fault:
        raise FileFormatError(f"{file}: forged or damaged: {fault}.")
    return model


def check_kind(path: str | os.PathLike[str], *, unsafe_pickle: bool) -> bool:
    """Refuse a file that :func:`load` cannot open, by its name and first bytes.

    Returns whether it is an archive, not a pickle.

    Examples
    --------
    >>> from quorate._files import check_kind
    >>> check_kind(__file__, unsafe_pickle=False)
    Traceback (most recent call last):
    ...
    quorate.exceptions.FileFormatError: ...: expected a compact model or one in ...
    """
    file = Path(path)
    with open(file, "rb") as source:
        start = source.read(8)
    is_archive = start.startswith((_ZIP_START, CompactModel.file_start))
    if start.startswith(_PICKLE_STARTS) or file.suffix.lower() in _PICKLES:
        if unsafe_pickle is not True:
            raise FileFormatError(
                f"{file}: pickle and joblib files run code when they are opened; if "
                "you wrote this file yourself, open it with unsafe_pickle=True or "
                "--unsafe-pickle, and store the model with quorate.save."
            )
    elif not is_archive:
        found = f"a file that starts with {start!r}" if start else "an empty file"
        raise FileFormatError(
            f"{file}: expected a compact model or one in skops format, found {found}."
        )
    return is_archive


def _type_names(trusted: Iterable[str | type]) -> set[str]:
    if isinstance(trusted, (str, bytes, bool)) or not isinstance(trusted, Iterable):
        raise TypeError(
            f"load(trusted={trusted!r}): must be a list of type names, such as "
            "['mypackage.MyTransformer']."
        )
    return {
        public_name(
            f"{entry.__module__}.{entry.__qualname__}"
            if isinstance(entry, type)
            else str(entry)
        )
        for entry in trusted
    }


def _with_schema(data: bytes, schema: Any) -> bytes:
    """Return an archive with another schema; of two entries the last one counts."""
    buffer = io.BytesIO(data)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Duplicate name")
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.writestr("schema.json", json.dumps(schema))
    return buffer.getvalue()


def _reason(error: Exception) -> str:
    first = in_short(error)
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _damage_error(file: Path, error: Exception) -> FileFormatError:
    return FileFormatError(
        f"{file}: not a model in skops format, or damaged ({_reason(error)})."
    )


def _check_archive(file: Path, data: bytes) -> dict[str, Any] | None:
    """Refuse a damaged file; return the metadata written by :func:`save`."""
    try:
        _check_sizes(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            text, checksum = "null", ""
            if _NOTE in names:
                text, checksum = archive.read(_NOTE).decode(), _checksum(archive)
        note = json.loads(text)
    except Exception as error:
        # For forged archives zipfile raises various errors (BadZipFile, zlib.error,
        # RuntimeError, NotImplementedError, struct.error, OverflowError).
        raise _damage_error(file, error) from error
    written = note.get("format") if isinstance(note, dict) else note
    if "schema.json" not in names:
        fault = "not a model in skops format: the archive has no schema.json"
    elif len(names) != len(set(names)):
        fault = "damaged: the archive has two entries with the same name"
    elif _NOTE not in names:
        return None
    elif written != _FORMAT:
        fault = (
            f"expected format {_FORMAT!r}, found {in_short(repr(written))}; a newer "
            "quorate may have written it"
        )
    elif not isinstance(note.get("versions"), dict):
        fault = f"damaged: {_NOTE} lacks versions"
    elif note.get("sha256") != checksum:
        fault = "damaged: the contents do not match the stored checksum"
    else:
        return dict(note)
    raise FileFormatError(f"{file}: {fault}.")


def _check_sizes(data: bytes) -> None:
    """Refuse archives that expand to far more than their size.

    Sparse matrices are nested archives, which are checked as well.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        total = sum(entry.file_size for entry in entries)
        if total > max(_NEVER_TOO_MUCH, _MOST_GROWTH * len(data)):
            raise ValueError(f"it expands from {len(data):,} to {total:,} bytes")
        for entry in entries:
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{entry.filename} has an unknown compression type")
            with archive.open(entry) as stream:
                is_archive = stream.read(len(_ZIP_START)) == _ZIP_START
            if is_archive:
                _check_sizes(archive.read(entry))


def _checksum(archive: zipfile.ZipFile) -> str:
    """Hash names and contents, each preceded by its length, sorted by name."""
    total = hashlib.sha256()
    for name in sorted(set(archive.namelist()) - {_NOTE}):
        for part in (name.encode(), archive.read(name)):
            total.update(len(part).to_bytes(8, "big"))
            total.update(part)
    return total.hexdigest()


def _build(
    file: Path, make: Callable[[], Any], note: dict[str, Any] | None = None
) -> Any:
    """Create the model, merging scikit-learn's warnings per estimator into one."""
    from sklearn.exceptions import InconsistentVersionWarning

    if note is not None:
        _warn_of_versions(file, note["versions"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = make()
        except Exception as error:
            # Without a checksum the parts may not match, classes of other versions can
            # fail in any way, and a pickle can raise anything.
            raise FileFormatError(
                f"{file}: the model cannot be built here ({_reason(error)})."
            ) from error
    older: dict[str, Any] = {}
    for entry in caught:
        notice = entry.message
        if isinstance(notice, InconsistentVersionWarning):
            older.setdefault("scikit-learn", notice.original_sklearn_version)
        else:
            warnings.warn_explicit(notice, entry.category, entry.filename, entry.lineno)
    if note is None:
        _warn_of_versions(file, older)
    return model


def _warn_of_versions(file: Path, written: dict[str, Any]) -> None:
    here = versions("scikit-learn")
    names = ("quorate", "scikit-learn")  # the Python version does not matter
    other = [name for name in names if written.get(name, here[name]) != here[name]]
    if other:
        writer = " and ".join(f"{name} {written[name]}" for name in other)
        reader = " and ".join(f"{name} {here[name]}" for name in other)
        warn(
            f"{file}: written by {writer}, read by {reader}; the model may not load, "
            "or may predict differently.",
            VersionWarning,
        )


def _lost_keys(schema: Any) -> str:
    """Return a message about a dict whose keys skops does not restore.

    Keys are stored as text, which loses False and keys with equal text.
    """
    for node in schema_nodes(schema):
        if node.get("__loader__") == "DictNode":
            kinds = [key["__class__"] for key in node["key_types"]["content"]]
            if {"bool", "bool_"} & set(kinds):
                return "a dict with keys of type bool; use strings or numbers as keys"
            if len(kinds) != len(node["content"]):
                return "a dict with different keys that become the same string"
    return ""
