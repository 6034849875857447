"""Files: whole or not there at all, packed ones up to a limit, and public data by name with a checked hash."""
