"""Language models of providers, over HTTP, by the providers' own SDKs. The only package that speaks to other machines."""
