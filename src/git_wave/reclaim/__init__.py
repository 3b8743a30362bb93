"""Worktrees that nobody needs any more: what there is, whose it is, and taking it away with the branch kept."""
