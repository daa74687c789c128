"""What is read of the cluster while a page is open, and what of it is hidden."""
