"""Analyses: functions from Comparisons (and Outputs) to tables."""
