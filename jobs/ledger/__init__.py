"""Looks at workloads into rows, and what is kept beside them; everything here is written under the cluster's lock."""
