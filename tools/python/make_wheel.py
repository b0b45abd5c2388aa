#!/usr/bin/env python3
"""make_wheel.py INSTALLATION SOURCE VERSION OUTPUT: packs an installed kiln and its Python module into a wheel.

A wheel is a zip file, here in the folder OUTPUT: files in NAME.data/scripts and NAME.data/data are installed to the bin
folder and the prefix of an environment, so that kiln finds its lib/kiln from its bin as in any other installation; the rest
is importable. Its tag says for which systems it is: manylinux_X_Y is any with a glibc of X.Y or newer, which the program's
own symbols decide.
"""

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile

installation, source, version, output = sys.argv[1:]


def needed_glibc(program):
    """The newest version of glibc of any symbol of the program."""
    symbols = subprocess.run(["objdump", "-T", program], check=True, text=True, stdout=subprocess.PIPE).stdout
    return max(tuple(map(int, found.split("."))) for found in re.findall(r"\(GLIBC_(\d+\.\d+)[).]", symbols))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def contents(tag):
    """Path in the wheel -> bytes."""
    info, data = f"kiln-{version}.dist-info", f"kiln-{version}.data"
    yield "kiln/__init__.py", read(f"{source}/tools/python/kiln/__init__.py")
    # A sample may be copied without the wheel, so it is there that this lies.
    yield "kiln/model.py", read(f"{source}/samples/embed-python/kiln_model.py")
    for folder, _, names in sorted(os.walk(installation)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            inside = os.path.relpath(path, installation)
            yield f"{data}/scripts/kiln" if inside == "bin/kiln" else f"{data}/data/{inside}", read(path)
    yield f"{info}/METADATA", f"""\
Metadata-Version: 2.1
Name: kiln
Version: {version}
Summary: turns a model file into a program
License: Apache-2.0 WITH LLVM-exception
License-File: LICENSE
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

""".encode() + read(f"{source}/README.md")
    yield f"{info}/LICENSE", read(f"{source}/LICENSE")
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: kiln {version}\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()


def record(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}\n"


def main():
    tag = "py3-none-manylinux_{}_{}_{}".format(*needed_glibc(f"{installation}/bin/kiln"), platform.machine())
    path = os.path.join(output, f"kiln-{version}-{tag}.whl")
    records = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(name, data):
            entry = zipfile.ZipInfo(name)  # of no time, so that the same contents are the same bytes
            entry.external_attr = (0o100755 if name.endswith("/scripts/kiln") else 0o100644) << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)

        for name, data in contents(tag):
            add(name, data)
            records += record(name, data)
        name = f"kiln-{version}.dist-info/RECORD"
        add(name, (records + f"{name},,\n").encode())
    print(path)


main()
