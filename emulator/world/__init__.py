"""A small world to look at: four teams that share one HyperPod cluster, and the jobs they keep sending."""
