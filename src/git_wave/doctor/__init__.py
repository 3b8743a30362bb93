"""`git wave doctor`: is everything there that a wave needs, and what did earlier runs leave? Only looks."""
