"""Code that several papers share: experiments, claims, rules, frames of results, figures and the page of results."""
