"""The version, in one place, and the versions that numbers and files depend on."""

__version__ = "0.1.0"


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of quorate, the packages named, and Python.

    A package that is not installed is left out.

    Examples
    --------
    >>> list(versions("scikit-learn", "numpy"))
    ['quorate', 'scikit-learn', 'numpy', 'python']
    """
    import platform
    from importlib.metadata import PackageNotFoundError, version

    installed = {"quorate": __version__}
    for package in packages:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return {**installed, "python": platform.python_version()}
