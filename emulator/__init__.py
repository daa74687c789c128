"""One process that answers over HTTP like a HyperPod cluster, for `make run` and the fast tests."""
