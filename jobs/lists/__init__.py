"""What every list has: an address, a reach, names to look for, pages and a CSV."""
