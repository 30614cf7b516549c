"""Filters that find the state of any robot from its sensors."""
