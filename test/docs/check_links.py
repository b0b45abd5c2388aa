#!/usr/bin/env python3
"""check_links.py ROOT: every relative link of every page under ROOT leads to a file or a folder. Build folders and what
begins with a dot are left out."""

import os
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)


def pages(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".", "build"))]
        yield from (os.path.join(folder, name) for name in files if name.endswith(".md"))


def main():
    root, broken, count = sys.argv[1], 0, 0
    for page in sorted(pages(root)):
        with open(page, encoding="utf-8") as file:
            links = LINK.findall(FENCE.sub("", file.read()))
        for link in links:
            count += 1
            if "://" not in link and not os.path.exists(os.path.join(os.path.dirname(page), link)):
                print(f"{os.path.relpath(page, root)}: {link} is not there")
                broken += 1
    return 1 if broken or not count else 0


sys.exit(main())
