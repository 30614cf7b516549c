"""Constraints as rows: loop joints and couplings, and one solve for all of them."""
