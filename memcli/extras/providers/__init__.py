"""Language models of providers, over HTTP, by the providers' own SDKs, and what they cost.

The only package that speaks to other machines; what they are asked, and what is done by the answer, is in `extras/advice/`.
"""
