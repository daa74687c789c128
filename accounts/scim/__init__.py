"""SCIM 2.0: identity providers write their people and groups here (docs/provisioning.md)."""
