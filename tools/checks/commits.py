"""Holds the subjects of commits to one clause: what one change does, in one short line."""

import subprocess

LONGEST = 100


def problems_of(message):
    """What is wrong with a commit's message, a list."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    found = []
    if not subject.strip():
        return ["has no subject"]
    if ";" in subject:
        found.append("two clauses are two commits, or the second is a line of the body")
    if len(subject) > LONGEST:
        found.append(f"has {len(subject)} characters, {LONGEST} at most")
    if subject.endswith("."):
        found.append("ends with a full stop")
    if len(lines) > 1 and lines[1].strip():
        found.append("an empty line parts the subject from the body")
    return [f"subject '{subject}': {problem}" for problem in found]


def git(root, *arguments):
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)


def check(root):
    """Returns the problems of the commits that the branch's upstream lacks, of the last one where there is none."""
    log = git(root, "log", "-z", "--no-merges", "--format=%B", "@{upstream}..HEAD")
    if log.returncode:
        log = git(root, "log", "-z", "--no-merges", "--format=%B", "-1")
    messages = log.stdout.split("\0") if log.returncode == 0 else []  # sources without a history have no commits
    return [problem for message in messages if message.strip() for problem in problems_of(message.strip("\n"))]
