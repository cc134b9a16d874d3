"""Asking models on behalf of metrics: recorded replies first, then the budget, then the model; every call is kept before its reply is used."""
