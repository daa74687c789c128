"""Lists, sums and the story of evictions."""
