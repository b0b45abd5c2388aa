#!/usr/bin/env python3
"""mend_links.py PREFIX: the pages of an installation, share/doc/kiln, link what is installed and nothing else.

Pages are installed unchanged, and in the sources they also link sources. A link to a header leads to the installed header; any
other whose target is not installed becomes its text.
"""

import os
import re
import sys

LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)([^)]*)\)")
FENCE = re.compile(r"(^```.*?^```$)", re.S | re.M)
INCLUDE = "runtime/include/"


def mend(text, page, root, prefix):
    """`text` of the file `page`, which lies in `root` where it lies in the sources."""
    folder = os.path.dirname(page)

    def replace(link):
        words, target, anchor = link.groups()
        if "://" in target or os.path.exists(os.path.join(folder, target)):
            return link[0]
        source = os.path.relpath(os.path.join(folder, target), root)
        header = os.path.join(prefix, "lib/kiln/include", source[len(INCLUDE):])
        if source.startswith(INCLUDE) and os.path.exists(header):
            return f"[{words}]({os.path.relpath(header, folder)}{anchor})"
        return words

    # Every second part is a block of code.
    return "".join(part if index % 2 else LINK.sub(replace, part) for index, part in enumerate(FENCE.split(text)))


def main():
    prefix = os.path.abspath(sys.argv[1])
    root = os.path.join(prefix, "share/doc/kiln")
    for folder, _, names in os.walk(root):
        for page in (os.path.join(folder, name) for name in names if name.endswith(".md")):
            with open(page, encoding="utf-8") as file:
                text = file.read()
            mended = mend(text, page, root, prefix)
            if mended != text:
                with open(page, "w", encoding="utf-8") as file:
                    file.write(mended)


main()
