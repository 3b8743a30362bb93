"""Worktrees that pile up: what there is, and taking away what may go."""
