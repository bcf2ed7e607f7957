"""What shell commands do to files: read from their words, and never run."""

from __future__ import annotations

from memcli.extras.agents.shell import read_command

WRITING = {
    "echo x > a.txt": ["a.txt"],
    "echo x >> a.txt 2>&1": ["a.txt"],
    "echo x >| 'a b.txt'": ["a b.txt"],
    "make 2>err.log &>all.log": ["err.log", "all.log"],
    "cat <<'EOF' > a.txt\nit's > b.txt\nEOF": ["a.txt"],
    "cat > a.txt <<-END && rm b.txt\n\tx\n\tEND": ["a.txt", "b.txt"],
    "ls | tee -a a.txt b.txt": ["a.txt", "b.txt"],
    "sed -i 's/a/b/' a.py": ["a.py"],
    "sed -i '' s/a/b/ a.py": ["a.py"],
    "sed -i.bak -e 's/a/b/' -e 's/c/d/' a.py b.py": ["a.py", "b.py"],
    "sed --in-place s/a/b/ a.py": ["a.py"],
    "perl -pi -e 's/a/b/' a.py": ["a.py"],
    "rm -rf -- -a b": ["-a", "b"],
    "mv a.py b.py": ["a.py", "b.py", "b.py/a.py"],
    "cp a.py b.py c": ["c", "c/a.py", "c/b.py"],
    "cp -t c a.py": ["c", "c/a.py"],
    "git mv a.py b.py": ["a.py", "b.py", "b.py/a.py"],
    "git -c x=y -C sub rm --cached a.py": ["sub/a.py"],
    "cd src && rm a.py; cd ../lib\nrm b.py": ["src/a.py", "src/../lib/b.py"],
    "rm /etc/a": ["/etc/a"],
    "X=1 sudo rm a.py": ["a.py"],
    "timeout 5 rm a.py": ["a.py"],
    "bash -lc 'cd src && rm a.py'": ["src/a.py"],
    "if true; then rm a.py; fi": ["a.py"],
    "echo $(rm a.py)": ["a.py"],
    "rm a.py \\\n  b.py # c.py": ["a.py", "b.py"],
}
READING = (
    "", "ls -la", "cat a.py | grep '>' | sort | uniq -c", "cd src && rg -n 'time\\.sleep' .", "git status 2>/dev/null", "git -C a log -p",
    "git --no-pager diff HEAD~1", "sed -n 1,5p a.py", "find . -name '*.py'", "for f in a b; do wc -l $f; done", "echo \"it's\" ';' rm",
    "grep -q x a.py && echo yes || echo no", "diff <(sort a) <(sort b)", "bash -c 'cat a.py'", "# rm a.py", "wc -l < a.py",
)  # fmt: skip
UNKNOWN = (
    "pytest -q", "git push --force", "find . -delete", "sort -o a.txt a.txt", "echo `rm a.py`", 'echo "$(rm a.py)"', "bash run.sh",
    "git diff --output=a", "git commit -m x", "xargs rm < names", "npm test",
)  # fmt: skip
UNREADABLE = ("echo 'x", 'cat "a', "cat <<EOF > a.txt\nx", "echo \\", "x" * 70_000, "bash -c " * 6 + "x")


def test_what_commands_do_to_files() -> None:
    """What is not known to read may change anything."""
    expected = {
        **{command: (tuple(files), False) for command, files in WRITING.items()},
        **dict.fromkeys(READING, ((), True)), **dict.fromkeys((*UNKNOWN, *UNREADABLE), ((), False)),
    }  # fmt: skip
    assert {command: read_command(command) for command in expected} == expected
