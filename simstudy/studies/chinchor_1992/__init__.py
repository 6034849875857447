"""The study of Chinchor 1992: worked examples, constructed cases, and a MUC-like set of systems."""
