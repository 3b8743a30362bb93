"""A worktree's life before the wave: made, finished, given up, brought back."""
