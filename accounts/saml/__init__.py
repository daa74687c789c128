"""Sign-in by SAML 2.0: allauth's provider, and every check that it and its library leave out."""
