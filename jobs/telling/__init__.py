"""What people are told: of evictions, interruptions, limits and trouble."""
