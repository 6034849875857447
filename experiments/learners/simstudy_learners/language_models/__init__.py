"""Language models: n-grams numbered exactly, and interpolated Kneser-Ney smoothing."""
