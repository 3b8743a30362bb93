"""`python -m git_wave` is `git-wave`."""

from git_wave.cli.main import git_wave

git_wave()
