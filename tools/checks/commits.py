"""Holds the subjects of commits to one clause in the imperative: what one change does, in one short line."""

import os
import subprocess

LONGEST = 70
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "verbs.txt"), encoding="utf-8") as lines:
    VERBS = {verb for line in lines if not line.startswith("#") for verb in line.split()}


def problems_of(message):
    """The faults of a commit's message, a list."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    found = []
    if not subject.strip():
        return ["has no subject"]
    if ";" in subject:
        found.append("two clauses are two commits, or the second is a line of the body")
    if len(subject) > LONGEST:
        found.append(f"has {len(subject)} characters, {LONGEST} at most")
    if subject.split()[0].lower().rstrip(";.") not in VERBS:
        found.append("does not begin with a verb of tools/checks/verbs.txt; say what the commit does, as in 'Fold sizes'")
    if subject.endswith("."):
        found.append("ends with a full stop")
    if len(lines) > 1 and lines[1].strip():
        found.append("an empty line parts the subject from the body")
    return [f"subject '{subject}': {problem}" for problem in found]


def git(root, *arguments):
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)


def check(root):
    """Returns the problems of the commits that the branch's upstream lacks, of the last one if there is no upstream."""
    log = git(root, "log", "-z", "--no-merges", "--format=%B", "@{upstream}..HEAD")
    if log.returncode:
        log = git(root, "log", "-z", "--no-merges", "--format=%B", "-1")
    messages = log.stdout.split("\0") if log.returncode == 0 else []  # sources without a history have no commits
    return [problem for message in messages if message.strip() for problem in problems_of(message.strip("\n"))]
