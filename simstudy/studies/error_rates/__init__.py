"""How often tests reject, and intervals cover, where the true gain is known."""
