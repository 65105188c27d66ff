"""Other ecosystems' conventions, one small module each."""
