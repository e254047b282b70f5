"""The routes, a file for each family: one declaration and one function for each route."""
