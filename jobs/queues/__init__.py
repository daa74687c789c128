"""How queues and teams stand now."""
