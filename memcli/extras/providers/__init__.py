"""Language models of providers, called over HTTP with the providers' own SDKs, and the cost of the calls.

The only package that sends requests to language models; the prompts, and what is done with the answers, are in `extras/advice/`.
"""
