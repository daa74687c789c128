"""The only code that opens a connection to an outside system."""
