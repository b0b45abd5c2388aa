#!/usr/bin/env python3
"""check_package.py CMAKE CPACK BUILD SOURCE WATCH: makes the .deb, the .tar.xz and the wheel, unpacks each into a folder, and has
the kiln there do the work of an installed one. The dependencies that each declares are those that it has."""

import glob
import os
import re
import subprocess
import sys
import tarfile
import tempfile

import numpy

sys.dont_write_bytecode = True
from installation import check_installation, run

cmake, cpack, build, source, watch = sys.argv[1:]


def needed(program, cwd):
    """The shared libraries that a program names."""
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program, cwd=cwd)))


def only(folder, pattern):
    found = glob.glob(os.path.join(folder, pattern))
    assert len(found) == 1, (pattern, found)
    return found[0]


def install_wheel(wheel, environment, folder):
    """A new environment with the wheel, and NumPy where this Python has it: a test fetches nothing."""
    run(sys.executable, "-m", "venv", environment, cwd=folder)
    python = os.path.join(environment, "bin", "python3")
    run(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", "--no-deps", wheel, cwd=folder)
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))", cwd=folder).strip()
    with open(os.path.join(packages, "numpy.pth"), "w") as file:
        file.write(os.path.dirname(os.path.dirname(numpy.__file__)) + "\n")
    return python


def main():
    run(cmake, "--build", build, "--target", "kiln-portable", cwd=build)
    with tempfile.TemporaryDirectory() as folder:
        for generator in ("DEB", "TXZ", "External"):
            run(cpack, "--config", os.path.join(build, "CPackConfig.cmake"), "-G", generator, "-B", folder, cwd=folder)

        deb = only(folder, "kiln_*.deb")
        depends = run("dpkg-deb", "--field", deb, "Depends", cwd=folder)
        assert all(name in depends for name in ("libmlir-22", "libc6", "gcc")), depends
        run("dpkg-deb", "-x", deb, "deb", cwd=folder)
        check_installation(os.path.join(folder, "deb", "usr"), source, watch, [source, build])

        with tarfile.open(only(folder, "kiln-*.tar.xz")) as archive:
            archive.extractall(os.path.join(folder, "tar"))
        prefix = only(folder, "tar/*")
        names = needed(os.path.join(prefix, "bin", "kiln"), folder)
        assert names <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}, names
        assert os.path.exists(os.path.join(prefix, "share/doc/kiln/terms/llvm-22-dev"))
        check_installation(prefix, source, watch, [source, build])

        wheel = only(folder, "kiln-*.whl")
        glibc = max(tuple(map(int, version.split(".")))
                    for version in re.findall(r"GLIBC_(\d+\.\d+)", run("readelf", "-V", f"{prefix}/bin/kiln", cwd=folder)))
        assert "-py3-none-manylinux_{}_{}_".format(*glibc) in wheel, (wheel, glibc)
        environment = os.path.join(folder, "an environment")
        python = install_wheel(wheel, environment, folder)
        check_installation(environment, source, watch, [source, build])
        run(python, os.path.join(os.path.dirname(__file__), "wheel_in_use.py"), os.path.join(source, "samples"), cwd=folder,
            PATH=os.path.join(environment, "bin") + os.pathsep + os.environ["PATH"])


main()
