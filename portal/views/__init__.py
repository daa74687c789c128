"""Pages that put the apps together."""
