"""What the gateways need of Kubernetes and Kueue, asked of the emulator and of the real thing with the same tests."""
