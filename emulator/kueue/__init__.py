"""What Kueue's own controllers do with the objects in the store."""
