"""What it costs: cost lines, rates, allocation rules, statements."""
