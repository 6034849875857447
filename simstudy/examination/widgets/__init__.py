"""What a page lets its reader try: two systems side by side, item by item, and smaller test sets."""
