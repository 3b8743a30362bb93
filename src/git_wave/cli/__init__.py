"""Commands: flags in, exit codes out. The only floor that knows the terminal, the environment and the clock."""
