"""Own, borrowed, lent, lost and pending GPU-hours, hour by hour."""
