#!/usr/bin/env python3
"""check_release.py TOOL: cuts releases of a small repository with tools/release, with a CMake and a CPack that only write files.
A release that cannot be leaves the repository as it was."""

import os
import shutil
import subprocess
import sys
import tempfile

tool = sys.argv[1]
CPACK = """#!/bin/sh
mkdir -p "$4"
case $2 in
DEB) touch "$4/kiln_0.2.0_amd64.deb" ;;
TXZ) touch "$4/kiln-0.2.0.tar.xz" ;;
External) [ ! -e ../breaks ] && echo "$SOURCE_DATE_EPOCH" >"$4/kiln-0.2.0.whl" ;;
esac
"""


def run(*command, cwd, status=0, says=""):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == status and says in done.stderr, (command, done)
    return done.stdout.strip()


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


def main():
    with tempfile.TemporaryDirectory() as folder:
        root, programs = os.path.join(folder, "kiln"), os.path.join(folder, "bin")
        for name, text in ("cmake", "#!/bin/sh\nmkdir -p build\n"), ("cpack", CPACK):
            write(os.path.join(programs, name), text, 0o755)
        os.environ["PATH"] = programs + os.pathsep + os.environ["PATH"]
        write(f"{root}/tools/setup", "#!/bin/sh\n", 0o755)
        shutil.copy(tool, f"{root}/tools/release")
        write(f"{root}/CMakeLists.txt", "project(kiln VERSION 0.1.0 LANGUAGES C CXX)\n")
        write(f"{root}/CHANGELOG.md", "# Changes\n\n## 0.2.0, not released yet\n\n- It is fast.\n")
        write(f"{root}/.gitignore", "/dist/\n")
        git = ["git", "-c", "user.name=A", "-c", "user.email=a@b"]
        run("git", "init", "--quiet", cwd=root)
        run("git", "config", "user.name", "A", cwd=root)
        run("git", "config", "user.email", "a@b", cwd=root)
        run("git", "add", ".", cwd=root)
        run(*git, "commit", "--quiet", "--message", "Begin", cwd=root)
        begun = run("git", "rev-parse", "HEAD", cwd=root)

        def refused(*arguments, says, status=1):
            run("tools/release", *arguments, cwd=root, status=status, says=says)
            assert run("git", "rev-parse", "HEAD", cwd=root) == begun and not run("git", "tag", cwd=root)
            assert not os.path.exists(f"{root}/dist")

        refused(says="usage: ", status=2)
        refused("0.2", says="usage: ", status=2)
        refused("0.3.0", says="tools/release: CHANGELOG.md has no section '## 0.3.0, not released yet'")
        write(f"{root}/CMakeLists.txt", "project(kiln VERSION 0.1.1 LANGUAGES C CXX)\n")
        refused("0.2.0", says="tools/release: there are changes that are not committed")
        run("git", "checkout", "--quiet", ".", cwd=root)
        write(f"{root}/breaks", "")
        run("git", "add", "breaks", cwd=root)
        run(*git, "commit", "--quiet", "--message", "Break the packages", cwd=root)
        begun = run("git", "rev-parse", "HEAD", cwd=root)
        refused("0.2.0", says="")
        run("git", "reset", "--quiet", "--hard", "HEAD~", cwd=root)

        run("tools/release", "--packages", f"{folder}/packages", cwd=root)
        assert not run("git", "tag", cwd=root) and len(os.listdir(f"{folder}/packages")) == 5
        run("tools/release", "0.2.0", cwd=root)
        assert run("git", "rev-parse", "v0.2.0^{commit}", cwd=root) == run("git", "rev-parse", "HEAD", cwd=root)
        assert run("git", "log", "-1", "--format=%s", cwd=root) == "Release 0.2.0"
        with open(f"{root}/CHANGELOG.md") as changes, open(f"{root}/CMakeLists.txt") as lists:
            assert "## 0.2.0, 2" in changes.read() and "VERSION 0.2.0 " in lists.read()
        with open(f"{root}/dist/kiln-0.2.0.whl") as wheel:  # the packages' one time is the commit's
            assert wheel.read().strip() == run("git", "log", "-1", "--format=%ct", cwd=root)
        run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=f"{root}/dist")
        run("tools/release", "0.2.0", f"{folder}/again", cwd=root, status=1, says="v0.2.0 is tagged")


main()
