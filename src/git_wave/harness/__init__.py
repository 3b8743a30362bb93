"""Claude Code's side: its settings file, and what its hooks are told."""
