"""Results, told: to programs as JSON, to people as a table and a live view."""
