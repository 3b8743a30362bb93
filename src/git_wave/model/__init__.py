"""Values: what the other floors speak in. No input, no output, no git."""
