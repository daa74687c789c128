"""A real etcd, kube-apiserver and Kueue on loopback, and what the project is held against on them."""
