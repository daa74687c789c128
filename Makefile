.PHONY: setup run test check bench record fix lock cluster
