"""Views, copies and joins: the same elements in another shape, order or dtype."""
