"""Land a wave of parallel worktrees into one checkout, and lose nothing on the way."""

__version__ = "0.1.0"
