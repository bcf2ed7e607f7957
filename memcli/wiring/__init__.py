"""The one room that names concrete adapters: it finds the store and joins everything on it."""
