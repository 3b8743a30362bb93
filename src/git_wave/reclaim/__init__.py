"""Worktrees that nobody needs any more: whose they are, and taking them away with their branches kept."""
