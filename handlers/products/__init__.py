"""Handlers of `flows/products/`: small whole products."""
