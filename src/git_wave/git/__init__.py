"""What we ask of git and tell it: `door` starts it, `parse` understands it, `reads` look, `writes` act."""
