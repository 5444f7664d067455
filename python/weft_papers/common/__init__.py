"""What several papers need: experiments, claims, rules, frames of results, figures and the page."""
